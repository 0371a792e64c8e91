import { setTimeout as delay } from 'node:timers/promises';
import type { BudgetLease, LeaseStatus } from '@tollgate/contract';
import { unixSeconds } from '../../../kernel/clock.js';
import { DomainError, invalidRequest } from '../../../kernel/errors.js';
import type { ListPage, Page } from '../../../kernel/page.js';
import { present } from '../../../kernel/present.js';
import type { ProjectRef, ProjectScope } from '../../../kernel/scope.js';
import { ProjectDb } from '../../../platform/postgres/index.js';
import { amountText, type KeyedRequest } from '../../ledger/index.js';
import type { MeasuredQueue } from '../check/group-metrics.js';
import { answered, Groups, TOGETHER } from '../check/groups.js';
import type { SubjectLimits } from '../check/subject-limits.js';
import { type LimitedSubject, subjectKey } from '../rules/route-rules.js';
import { decideLeaseRequests, type LeaseGroupDeps } from './group.js';
import { type LeaseInput, toBudgetLease } from './lease.js';
import { withWorkOf } from './parts.js';
import type { LeaseRequest } from './request-rules.js';
import * as store from './store.js';
import type { WrittenGroup } from './unlocked.js';

/** For how long a group that is smaller than the one before it waits for clients to ask again. */
const GATHER_MS = 3;

export interface LeasesDeps extends LeaseGroupDeps {
  readonly limits: Pick<SubjectLimits, 'levelsOf' | 'usage'>;
}

/** A request with its project. */
interface Waiting {
  readonly project: ProjectRef;
  readonly request: LeaseRequest;
}

/** Budget leases of all subjects. README.md states what always holds. */
export class Leases {
  readonly #deps: LeasesDeps;
  /**
   * Requests of one subject, and of subjects below the same one, need the same rows: those that arrive together share a
   * transaction. So the key is the highest subject of the chain.
   */
  readonly #groups: Groups<Waiting, BudgetLease, WrittenGroup | undefined>;
  /** Requests that look for a lease while a statement runs share the next one. */
  readonly #found: Groups<store.LeaseKey & ProjectScope, store.FoundLease | undefined>;

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
    this.#groups = new Groups(
      async (waiting, before) => {
        const first = present(waiting[0], 'a request');
        const requests = waiting.map(({ request }) => request);
        try {
          return await decideLeaseRequests(deps, first.project, requests, before);
        } finally {
          deps.limits.usage.forget(first.project.projectId);
        }
      },
      { gather: () => delay(GATHER_MS) },
    );
    this.#found = new Groups(async (keys) => answered(await store.findLeases(deps.postgres, keys)));
  }

  /** The queue of requests that wait. */
  get queue(): MeasuredQueue {
    return this.#groups;
  }

  /**
   * Creates a lease and reserves what it holds. A lease of a subject without limits holds nothing; one of a subject
   * without a route may be denied.
   *
   * @param key the `Idempotency-Key`; it is used up only when the lease is granted
   * @throws DomainError `invalid_request`, `unknown_subject`, `limit_exceeded`, `lease_exceeded`, `lease_not_active`,
   * `insufficient_funds`, `idempotency_key_conflict`, `server_busy`
   */
  async create(project: ProjectRef, input: LeaseInput, key: string | undefined): Promise<BudgetLease> {
    const { subject, parentId } = input;
    const asked = key === undefined ? [] : askedBy(input);
    if (parentId === undefined)
      return this.#run(subject, { project, request: { do: 'grant', input, parent: undefined, key, asked } });
    const parent = (await this.#found.run(TOGETHER, { ...project, id: parentId }, project.tenantId))?.lease;
    if (parent === undefined) throw invalidRequest('parent_lease_id', 'expected a lease of the project');
    const part = withWorkOf(parent, input);
    return this.#run(subject, { project, request: { do: 'grant', input: part, parent, key, asked } });
  }

  /** @throws DomainError `not_found` */
  async get(scope: ProjectScope, id: string): Promise<BudgetLease> {
    const { lease } = await this.#find(scope, id);
    return toBudgetLease(lease, unixSeconds(this.#deps.clock));
  }

  /**
   * Closes a lease and releases what it still holds; one that has ended stays as it is.
   *
   * @throws DomainError `not_found`, `server_busy`
   */
  async close(project: ProjectRef, id: string): Promise<BudgetLease> {
    const found = await this.#find(project, id);
    if (found.lease.status !== 'active') return toBudgetLease(found.lease, unixSeconds(this.#deps.clock));
    const { subject, ancestorIds } = found.lease;
    const closed = await this.#run(subject, { project, request: { do: 'close', id, ancestorIds, found } });
    // While too many leases are below, each attempt ends more of them than a group can add meanwhile.
    return closed.status === 'active' ? this.close(project, id) : closed;
  }

  /**
   * Lets a lease expire `ttlSeconds` from now on. It holds what it held.
   *
   * @throws DomainError `not_found`, `lease_not_active`, `server_busy`
   */
  async renew(project: ProjectRef, id: string, ttlSeconds: number): Promise<BudgetLease> {
    const found = await this.#find(project, id);
    const { subject, ancestorIds } = found.lease;
    return this.#run(subject, { project, request: { do: 'renew', id, ancestorIds, found, ttlSeconds } });
  }

  /** Returns the leases of a subject, newest first. */
  async list(
    scope: ProjectScope,
    filter: { readonly subject: LimitedSubject; readonly status: LeaseStatus | undefined },
    page: Page,
  ): Promise<ListPage<BudgetLease>> {
    const nowS = unixSeconds(this.#deps.clock);
    const { items, totalCount } = await store.listLeases(
      new ProjectDb(this.#deps.postgres.db, scope),
      filter,
      nowS,
      page,
    );
    return { items: items.map((lease) => toBudgetLease(lease, nowS)), totalCount };
  }

  /**
   * Returns the active leases of the tree of a lease, and its branch even if that has ended; each after the lease that
   * it is a part of.
   *
   * @throws DomainError `not_found`
   */
  async tree(scope: ProjectScope, id: string, page: Page): Promise<ListPage<BudgetLease>> {
    const nowS = unixSeconds(this.#deps.clock);
    const { lease } = await this.#find(scope, id);
    const { items, totalCount } = await store.listTree(
      new ProjectDb(this.#deps.postgres.db, scope),
      [lease.id, ...lease.ancestorIds],
      nowS,
      page,
    );
    return { items: items.map((each) => toBudgetLease(each, nowS)), totalCount };
  }

  async #find(scope: ProjectScope, id: string): Promise<store.FoundLease> {
    const found = await this.#found.run(TOGETHER, { ...scope, id }, scope.tenantId);
    if (found === undefined) throw new DomainError('not_found');
    return found;
  }

  async #run(subject: LimitedSubject, waiting: Waiting): Promise<BudgetLease> {
    const { projectId, tenantId } = waiting.project;
    const [levels] = await this.#deps.limits.levelsOf(projectId, [subject]);
    const highest = levels?.at(-1);
    const { type, id } = highest === undefined ? subject : highest.subject;
    return this.#groups.run(subjectKey(projectId, type, id), waiting, tenantId);
  }
}

/** Returns what an idempotency key stands for. For one amount, release 0.1.0 has stored the same. */
function askedBy({ subject, isPlain, holds, ...input }: LeaseInput): KeyedRequest['asked'] {
  const { metric, dimensions, parentId, ttlSeconds } = input;
  const [plain] = isPlain ? holds : [];
  const held = holds.map(({ kind, unit, amount }) => [kind, unit, amountText(amount)]);
  return [
    ...[subject.type, subject.id],
    ...(plain === undefined ? [JSON.stringify(held)] : [amountText(plain.amount), plain.unit]),
    ...[metric, ttlSeconds],
    ...(dimensions.size === 0 ? [] : [JSON.stringify([...dimensions].sort())]),
    ...(parentId === undefined ? [] : [parentId]),
  ];
}
