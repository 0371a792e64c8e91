import type { LimitCrossing } from '@tollgate/contract';
import type { ListPage, Page } from '../../../kernel/page.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { type Postgres, ProjectDb } from '../../../platform/postgres/index.js';
import { listMessagesAbout } from '../../webhooks/index.js';
import type { LimitedSubject } from '../rules/route-rules.js';

/**
 * Returns the name under which alerts of a subject are stored. A type contains no space, so no two subjects share a
 * name.
 */
export function aboutSubject({ type, id }: LimitedSubject): string {
  return `${type} ${id}`;
}

/**
 * Alerts of subjects that reached a limit or a percentage of it, and their recoveries. They are stored even without a
 * webhook endpoint.
 */
export class Crossings {
  readonly #postgres: Pick<Postgres, 'db'>;

  constructor(postgres: Pick<Postgres, 'db'>) {
    this.#postgres = postgres;
  }

  async list(project: ProjectRef, subject: LimitedSubject, page: Page): Promise<ListPage<LimitCrossing>> {
    const { items, totalCount } = await listMessagesAbout(
      new ProjectDb(this.#postgres.db, project),
      aboutSubject(subject),
      page,
    );
    const crossings = items.map(({ id, type, payload, created_at_ms }) => {
      const { data } = JSON.parse(payload) as {
        data: LimitCrossing['limit'] & Pick<LimitCrossing, 'threshold_percent' | 'sequence'>;
      };
      const { threshold_percent, sequence, ...limit } = data;
      const numbered = sequence === undefined ? {} : { sequence };
      return {
        id,
        type,
        threshold_percent,
        ...numbered,
        crossed_at: Math.floor(created_at_ms / 1_000),
        limit,
      };
    });
    return { items: crossings, totalCount };
  }
}
