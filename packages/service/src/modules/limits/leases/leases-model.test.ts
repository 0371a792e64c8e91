import type { BudgetLease } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProjectRef } from '../../../kernel/scope.js';
import { transaction } from '../../../platform/postgres/index.js';
import { usageItem } from '../../../testing/index.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import type { GroupResult } from '../check/groups.js';
import {
  createTestLimits,
  holdings,
  makeLimit,
  makeRoute,
  setWallet,
  type TestLimits,
} from '../check/realtime.testing.js';
import { SubjectLimits } from '../check/subject-limits.js';
import { BatchPosting, PostingPlan, type RatedUsage } from '../posting/index.js';
import { createWorkerCatalog } from '../rules/index.js';
import { decideLeaseRequests } from './group.js';
import { plainInput } from './lease-calls.testing.js';
import { BALANCE, HOUR_S, Oracle, RULES } from './lease-oracle.testing.js';
import { type Asked, type LeaseStep, type Step, step } from './lease-steps.testing.js';
import type { LeaseRequest } from './request-rules.js';
import { findLeases } from './store.js';

const UNIT = 10n ** 18n;
const TOGETHER_TTL_S = HOUR_S;

let api: TestLimits;
let project: ProjectRef;
let limits: SubjectLimits;
let runs = 0;

beforeAll(async () => {
  api = await createTestLimits();
  const { rows } = await api.postgres.pool.query<{ no: number }>('select no from projects where id = $1', [
    api.projectId,
  ]);
  const { tenantId, projectId } = api;
  project = { tenantId, projectId, projectNo: rows[0]?.no as number, kind: 'release', storage: 'shared' };
  const { postgres, clock } = api;
  limits = new SubjectLimits({ postgres, clock, catalog: createWorkerCatalog() });
});
afterAll(() => api.close());

/** Rates one event, as a worker does. */
async function post(event: RatedUsage): Promise<void> {
  await transaction(api.postgres, async (tx) => {
    const posting = new BatchPosting(tx, createWorkerCatalog(), api.clock.nowMs());
    const prepared = await posting.prepare([{ scope: project, events: [event] }]);
    const plan = new PostingPlan();
    plan.add(event, prepared.of(project, event));
    await posting.write(plan);
  });
}

/** One run: every step is executed in the service and in the oracle; afterwards both must agree. */
class Run {
  readonly oracle: Oracle;
  readonly #isPrepaid: boolean;
  readonly subject: { readonly type: 'user'; readonly id: string };
  readonly ruleNos: number[] = [];
  /** The lease that was granted with each idempotency key. */
  readonly keys = new Map<number, { readonly asked: Extract<Asked, { do: 'grant' }>; readonly id: string }>();

  constructor(name: string, isPrepaid: boolean) {
    this.subject = { type: 'user', id: name };
    this.#isPrepaid = isPrepaid;
    this.oracle = new Oracle(isPrepaid);
  }

  async begin(): Promise<void> {
    const route = await makeRoute(api, { id: `ra_${this.subject.id}`, subjectId: this.subject.id });
    if (this.#isPrepaid) await setWallet(api, route, { balance: String(BALANCE) });
    for (const { key, limit, period, selector } of RULES) {
      const name = `${this.subject.id}_${key}`;
      this.ruleNos.push(await makeLimit(api, route, { key: name, amount: String(limit), period, selector }));
    }
  }

  get nowS(): number {
    return Math.floor(api.clock.nowMs() / 1_000);
  }

  async take(one: Step): Promise<void> {
    const { oracle, nowS } = this;
    const lease = 'which' in one ? oracle.leases[one.which] : undefined;
    switch (one.do) {
      case 'lease':
        return this.#lease(one);
      case 'close':
        if (lease === undefined) return;
        oracle.end(lease, nowS);
        expect(await api.leases.close(project, lease.id)).toMatchObject({
          status: lease.status,
          remaining_amount: '0',
        });
        return;
      case 'together':
        return this.#together(one);
      case 'use':
        oracle.use(lease, one.amount, one.metric, nowS, nowS - one.lateS);
        await post({
          occurredAt: nowS - one.lateS,
          subject: this.subject,
          dimensions: new Map(),
          items: [usageItem({ metric: one.metric, amount: BigInt(one.amount) * UNIT })],
          budgetLeaseId: lease?.id ?? '',
        });
        return;
      case 'wait':
        api.clock.advanceMs(one.seconds * 1_000);
        if (!one.sweeps) return;
        for (const due of oracle.leases) if (due.expiresAt <= this.nowS) oracle.end(due, this.nowS);
        await api.expiry.sweep();
    }
  }

  async #lease({ amount, metric: metricName, ttl }: LeaseStep): Promise<void> {
    const { oracle, nowS, subject } = this;
    const expected = oracle.grants(amount, metricName, nowS);
    const input = plainInput(subject, BigInt(amount) * UNIT, { metric: metricName, ttlSeconds: ttl });
    const outcome = await api.leases
      .create(project, input, undefined)
      .catch((error: { code: string }) => error.code);
    expect(typeof outcome === 'string' ? outcome : 201).toBe(expected);
    if (typeof outcome !== 'string') this.#granted(outcome.id, { amount, metric: metricName, ttl });
  }

  #granted(id: string, { amount: held, metric: metricName, ttl }: Omit<LeaseStep, 'do'>): void {
    const { oracle, nowS } = this;
    const rules = oracle.rulesFor(metricName);
    const expiresAt = nowS + ttl;
    oracle.leases.push({ id, metric: metricName, expiresAt, rules, status: 'active', held, used: 0 });
    for (const rule of rules)
      expect(oracle.reservedOf(rule) + oracle.usedOf(rule, nowS)).toBeLessThanOrEqual(rule.limit);
  }

  /** Sends requests at the same time; each is answered as if it had come after those before it. */
  async #together({ asked: all, isFound }: Extract<Step, { do: 'together' }>): Promise<void> {
    const { subject, oracle } = this;
    const known = oracle.leases.map(({ id }) => id);
    const found = await findLeases(
      api.postgres,
      known.map((id) => ({ ...project, id })),
    );
    const requests = all.map((one): LeaseRequest => {
      if (one.do === 'close') {
        const id = known[one.which] ?? 'bl_unknown';
        return { do: 'close', id, ancestorIds: [], found: isFound ? found[one.which] : undefined };
      }
      const amount = BigInt(one.amount) * UNIT;
      const input = plainInput(subject, amount, { metric: one.metric, ttlSeconds: TOGETHER_TTL_S });
      const key = one.key === null ? undefined : `${subject.id} ${one.key}`;
      return { do: 'grant', input, parent: undefined, key, asked: [one.amount, one.metric] };
    });
    const { results: outcomes } = await decideLeaseRequests({ ...api, limits }, project, requests);
    expect(outcomes).toHaveLength(all.length);
    for (const [at, one] of all.entries()) {
      const outcome = outcomes[at] as GroupResult<BudgetLease>;
      const expected = one.do === 'close' ? this.#expectClosed(known[one.which]) : this.#expectGrant(one);
      expect('error' in outcome ? outcome.error : outcome.answer).toMatchObject(expected);
      if (one.do === 'close' || 'error' in outcome || 'id' in expected) continue;
      this.#granted(outcome.answer.id, { ...one, ttl: TOGETHER_TTL_S });
      if (one.key !== null) this.keys.set(one.key, { asked: one, id: outcome.answer.id });
    }
  }

  #expectClosed(id: string | undefined): object {
    const lease = this.oracle.leases.find((one) => one.id === id);
    if (lease === undefined) return { code: 'not_found' };
    this.oracle.end(lease, this.nowS);
    return { id, status: lease.status, remaining_amount: '0' };
  }

  #expectGrant({ amount, metric: metricName, key }: Extract<Asked, { do: 'grant' }>): object {
    const earlier = key === null ? undefined : this.keys.get(key);
    if (earlier !== undefined) {
      const isSame = earlier.asked.amount === amount && earlier.asked.metric === metricName;
      return isSame ? { id: earlier.id } : { code: 'idempotency_key_conflict' };
    }
    const expected = this.oracle.grants(amount, metricName, this.nowS);
    return expected === 201 ? { amount: String(amount), status: 'active' } : { code: expected };
  }

  async compare(): Promise<void> {
    const { oracle, ruleNos, nowS } = this;
    const { rows: windows } = await api.postgres.pool.query<{
      rule_no: number;
      used: number;
      reserved: number;
    }>(
      `select r.no as rule_no, coalesce(w.used, 0)::float as used, coalesce(h.reserved, 0)::float as reserved
      from unnest($1::int[], $2::bigint[]) with ordinality as r (no, start, position)
      left join limit_windows w on w.rule_no = r.no and w.window_start = r.start
      left join limit_reserved h on h.rule_no = r.no order by position`,
      [ruleNos, RULES.map(({ windowS }) => (windowS === Infinity ? 0 : nowS - (nowS % windowS)))],
    );
    expect(windows.map(({ used, reserved }) => [used, reserved])).toEqual(
      RULES.map((rule) => [oracle.usedOf(rule, nowS), oracle.reservedOf(rule)]),
    );
    const { rows: leases } = await api.postgres.pool.query(
      'select held::float, used::float, status from budget_leases where subject_id = $1 order by id',
      [this.subject.id],
    );
    expect(leases).toEqual(oracle.leases.map(({ held, used, status }) => ({ held, used, status })));
  }
}

it('grants, holds and gives back as the oracle says, over the ends of windows and leases', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.array(step, { minLength: 5, maxLength: 30, size: 'max' }),
      async (isPrepaid, steps) => {
        runs += 1;
        const run = new Run(`model${runs}`, isPrepaid);
        await run.begin();
        for (const one of steps) {
          await run.take(one);
          await run.compare();
        }
        // Leases that this run leaves active are still held by leases, rules and the wallet alike.
        const { leases, reserved, ofWalletLeases, ofWallets } = await holdings(api);
        expect(leases).toEqual(reserved);
        expect(ofWalletLeases).toBe(ofWallets);
      },
    ),
    { numRuns: propertyRuns(30) },
  );
});
