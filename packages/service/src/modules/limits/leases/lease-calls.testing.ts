import { expect } from 'vitest';
import { unixSeconds } from '../../../kernel/clock.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { transaction } from '../../../platform/postgres/index.js';
import { createTestLimits, makeRoute, type TestLimits } from '../check/realtime.testing.js';
import { SubjectLimits } from '../check/subject-limits.js';
import { BatchPosting, type EventPosting, PostingPlan, type RatedUsage } from '../posting/index.js';
import { createWorkerCatalog } from '../rules/index.js';
import type { LimitedSubject } from '../rules/route-rules.js';
import type { LeaseInput } from './lease.js';
import { recountReservations } from './recount-store.js';

/** Input for a lease of one amount of USD. */
export function plainInput(
  subject: LimitedSubject,
  amount: bigint,
  { metric = null, ttlSeconds }: { readonly metric?: string | null; readonly ttlSeconds: number },
): LeaseInput {
  const holds = [{ kind: 'amount', unit: 'USD', amount }] as const;
  return { subject, isPlain: true, holds, metric, dimensions: new Map(), parentId: undefined, ttlSeconds };
}

/** An application with helpers for tests of leases. Subjects are of type `user`. */
export class LeaseCalls {
  #subjects = 0;

  private constructor(readonly api: TestLimits) {}

  static async start(): Promise<LeaseCalls> {
    return new LeaseCalls(await createTestLimits());
  }

  /** Creates a subject with a route of its own. */
  async makeSubject() {
    this.#subjects += 1;
    const subjectId = `s${this.#subjects}`;
    return { subjectId, route: await makeRoute(this.api, { id: `ra_${subjectId}`, subjectId }) };
  }

  /** Returns the limits of subjects, as a process that has just started reads them. */
  subjectLimits(): SubjectLimits {
    const { postgres, clock } = this.api;
    return new SubjectLimits({ postgres, clock, catalog: createWorkerCatalog() });
  }

  ask(subjectId: string, asked: object) {
    const body = { subject_type: 'user', subject_id: subjectId, currency: 'USD', ttl_seconds: 60, ...asked };
    return this.api.call('POST', `${this.api.url}/budget-leases`, body);
  }

  /** Creates a lease, which must be granted. */
  async grant(subjectId: string, asked: object) {
    const answer = await this.ask(subjectId, asked);
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
    return answer.json();
  }

  get(id: string) {
    return this.api.call('GET', `${this.api.url}/budget-leases/${id}`);
  }

  close(id: string) {
    return this.api.call('POST', `${this.api.url}/budget-leases/${id}/close`);
  }

  renew(id: string, ttlSeconds: number) {
    return this.api.call('POST', `${this.api.url}/budget-leases/${id}/renew`, { ttl_seconds: ttlSeconds });
  }

  /** The project, as the worker knows it. */
  async project(): Promise<ProjectRef> {
    const { tenantId, projectId, postgres } = this.api;
    const { rows } = await postgres.pool.query<{ no: number }>('select no from projects where id = $1', [
      projectId,
    ]);
    return { tenantId, projectId, projectNo: rows[0]?.no as number, kind: 'release', storage: 'shared' };
  }

  /** Rates events as one batch of a worker does. Returns their lease statuses. */
  async use(events: readonly Partial<RatedUsage>[]): Promise<string[]> {
    const { postgres, clock } = this.api;
    const project = await this.project();
    const rated = events.map(
      (event): RatedUsage => ({
        occurredAt: unixSeconds(clock),
        subject: undefined,
        dimensions: new Map(),
        items: [],
        budgetLeaseId: '',
        ...event,
      }),
    );
    return transaction(postgres, async (tx) => {
      const posting = new BatchPosting(tx, createWorkerCatalog(), clock.nowMs());
      const prepared = await posting.prepare([{ scope: project, events: rated }]);
      const plan = new PostingPlan();
      const postings = rated.map((event) => prepared.of(project, event));
      for (const [index, event] of rated.entries()) plan.add(event, postings[index] as EventPosting);
      await posting.write(plan);
      return postings.map(({ leaseStatus }) => leaseStatus);
    });
  }

  /** Returns the differences between what leases hold, and what limits and wallets reserve; there must be none. */
  async differences() {
    return (await recountReservations(this.api.postgres, 10)).differences;
  }

  async limitsOf(subjectId: string) {
    const query = `subject_type=user&subject_id=${subjectId}`;
    return (await this.api.call('GET', `${this.api.url}/subject/realtime/limits?${query}`)).json().limits;
  }

  /** Returns the id and the reserved amount of each limit. */
  async reservedOf(subjectId: string): Promise<[string, string][]> {
    const limits: { id: string; reserved_amount: string }[] = await this.limitsOf(subjectId);
    return limits.map(({ id, reserved_amount: reserved }) => [id, reserved]);
  }
}
