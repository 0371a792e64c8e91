import type { LimitCrossing } from '@tollgate/contract';
import type { Page, ProjectRef } from '../../platform/http/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { listMessagesAbout } from '../webhooks/index.js';
import type { Subject } from './standing.js';

/** Under which crossings of a subject are told. A type has no space in it, so no two subjects share one. */
export function toldAbout({ type, id }: Subject): string {
  return `${type} ${id}`;
}

/** Limits, and shares of them, that subjects have reached: what was told of it, whether or not anybody listened. */
export class Crossings {
  constructor(private readonly postgres: Pick<Postgres, 'db'>) {}

  async list(
    project: ProjectRef,
    subject: Subject,
    page: Page,
  ): Promise<{ crossings: LimitCrossing[]; total_count: number }> {
    const { rows, totalCount } = await listMessagesAbout(this.postgres.db, project, toldAbout(subject), page);
    const crossings = rows.map(({ id, type, payload, created_at_ms }) => {
      const { data } = JSON.parse(payload) as {
        data: LimitCrossing['limit'] & { threshold_percent: number };
      };
      const { threshold_percent, ...limit } = data;
      return { id, type, threshold_percent, crossed_at: Math.floor(created_at_ms / 1_000), limit };
    });
    return { crossings, total_count: totalCount };
  }
}
