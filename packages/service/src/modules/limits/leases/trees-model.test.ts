import type { BudgetLease } from '@tollgate/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unixSeconds } from '../../../kernel/clock.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { usageItem } from '../../../testing/index.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import type { GroupResult } from '../check/groups.js';
import {
  makeLimit,
  makeRoute,
  setWallet,
  type TestLimit,
  type TestLimits,
} from '../check/realtime.testing.js';
import type { SubjectLimits } from '../check/subject-limits.js';
import { decideLeaseRequests } from './group.js';
import { LeaseCalls } from './lease-calls.testing.js';
import { withWorkOf } from './parts.js';
import type { LeaseRequest } from './request-rules.js';
import { findLeases } from './store.js';
import {
  type AskedModelLease,
  CHAIN,
  type ModelSubject,
  SLOTS_MAX,
  TREE_BALANCE,
  TREE_RULES,
  type TreeLease,
  TreeOracle,
} from './tree-oracle.testing.js';
import {
  askedByTree,
  MODEL_UNIT,
  type TreeAsk,
  type TreeStep,
  type TreeUsage,
  treeInput,
  treeStep,
} from './tree-steps.testing.js';

const SELECTORS: Readonly<Record<string, Partial<TestLimit>>> = {
  family: { selector: ['metric_prefix', 'm.'] },
  one: { selector: ['metric', 'm.a'] },
  other: { selector: ['metric', 'm.b'] },
  model: { dimension: ['model', 'x'] },
};

let calls: LeaseCalls;
let api: TestLimits;
let project: ProjectRef;
let limits: SubjectLimits;
let runs = 0;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
  project = await calls.project();
  limits = calls.subjectLimits();
});
afterAll(() => api.close());

/** One run: every step is executed in the service and in the oracle; afterwards both must agree. */
class Run {
  readonly #oracle = new TreeOracle();
  readonly #prefix = `tree${runs}`;
  readonly #ruleNos = new Map<string, number>();

  async begin(): Promise<void> {
    for (const [index, name] of CHAIN.entries()) {
      const above = index === 0 ? undefined : this.#id(CHAIN[index - 1] as ModelSubject);
      const subjectId = this.#id(name);
      const route = await makeRoute(api, { id: `ra_${subjectId}`, subjectId, parentId: above ?? null });
      for (const { key, of, measure, limit } of TREE_RULES) {
        if (of !== name) continue;
        const rule = {
          key: this.#id(key),
          measure,
          amount: String(limit),
          period: 'lifetime',
          ...SELECTORS[key],
        };
        this.#ruleNos.set(key, await makeLimit(api, route, rule));
      }
      if (index > 0) continue;
      const slots = { key: this.#id('slots'), measure: 'concurrency', amount: String(SLOTS_MAX) } as const;
      this.#ruleNos.set('slots', await makeLimit(api, route, { ...slots, period: 'lifetime' }));
      await setWallet(api, route, { balance: String(TREE_BALANCE) });
    }
  }

  async take(one: TreeStep): Promise<void> {
    const oracle = this.#oracle;
    if (one.do === 'ask') return this.#ask(one.asks);
    if (one.do === 'use') return this.#use(one.events);
    api.clock.advanceMs(one.seconds * 1_000);
    if (!one.sweeps) return;
    for (const due of oracle.leases) if (due.expiresAt <= this.#nowS) oracle.end(due, this.#nowS);
    await api.expiry.sweep();
  }

  /** Sends requests at the same time; each is answered as if it had come after those before it. */
  async #ask(asks: readonly TreeAsk[]): Promise<void> {
    const known = this.#oracle.leases.slice();
    const named = (at: number) => leaseAt(known, at);
    const requests: LeaseRequest[] = [];
    const checks: ((outcome: GroupResult<BudgetLease>) => void)[] = [];
    for (const one of asks) {
      const lease = one.do === 'grant' ? undefined : named(one.which);
      if (one.do === 'grant') {
        const parent = one.parent === undefined ? undefined : named(one.parent);
        const stored = parent && (await foundLease(parent.id))?.lease;
        const asked = askedByTree(one, parent);
        const input = treeInput(asked, one.isPlain, this.#id(asked.subject));
        const part = stored === undefined ? input : withWorkOf(stored, input);
        requests.push({ do: 'grant', input: part, parent: stored, key: undefined, asked: [] });
        checks.push((outcome) => this.#expectGrant(outcome, asked, parent));
      } else if (lease !== undefined) {
        const { id } = lease;
        const ancestorIds = ancestorsOf(lease);
        const found = await foundLease(id);
        const { ttl: ttlSeconds } = one.do === 'renew' ? one : { ttl: 0 };
        requests.push(
          one.do === 'close'
            ? { do: 'close', id, ancestorIds, found }
            : { do: 'renew', id, ancestorIds, found, ttlSeconds },
        );
        checks.push((outcome) => {
          const isDone = one.do === 'close' || this.#oracle.renew(lease, ttlSeconds, this.#nowS);
          if (one.do === 'close') this.#oracle.end(lease, this.#nowS);
          expect(codeOf(outcome)).toBe(isDone ? undefined : 'lease_not_active');
        });
      }
    }
    const { results: outcomes } = await decideLeaseRequests({ ...api, limits }, project, requests);
    for (const [index, check] of checks.entries()) check(outcomes[index] as GroupResult<BudgetLease>);
  }

  #expectGrant(
    outcome: GroupResult<BudgetLease>,
    asked: AskedModelLease,
    parent: TreeLease | undefined,
  ): void {
    expect(codeOf(outcome)).toBe(this.#oracle.refusal(asked, parent, this.#nowS));
    if ('answer' in outcome) this.#oracle.grant(outcome.answer.id, asked, parent, this.#nowS);
  }

  async #use(events: readonly TreeUsage[]): Promise<void> {
    const rated = events.map(({ which: at, metric: of, model: text, amount, quantity }) => {
      const lease = leaseAt(this.#oracle.leases, at);
      const name = lease?.subject ?? 'user';
      this.#oracle.use({ subject: name, metric: of, model: text, amount, quantity }, lease, this.#nowS);
      const item = usageItem({
        metric: of,
        amount: BigInt(amount) * MODEL_UNIT,
        quantity: BigInt(quantity) * MODEL_UNIT,
      });
      return {
        subject: { type: 'user', id: this.#id(name) },
        dimensions: new Map(text === undefined ? [] : [['model', text]]),
        items: [item],
        budgetLeaseId: lease?.id ?? '',
      };
    });
    this.#oracle.endBatch();
    await calls.use(rated);
  }

  async compare(): Promise<void> {
    const oracle = this.#oracle;
    const { rows } = await api.postgres.pool.query<{ rule_no: number; reserved: number }>(
      'select rule_no, reserved::float from limit_reserved where rule_no = any($1)',
      [[...this.#ruleNos.values()]],
    );
    const found = new Map(rows.map(({ rule_no: no, reserved }) => [no, reserved]));
    const reservedBy = (key: string) => found.get(this.#ruleNos.get(key) as number) ?? 0;
    expect(TREE_RULES.map(({ key }) => `${key} ${reservedBy(key)}`)).toEqual(
      TREE_RULES.map((rule) => `${rule.key} ${oracle.reservedOf(rule)}`),
    );
    expect(reservedBy('slots')).toBe(oracle.slots);
    for (const lease of oracle.leases) {
      const stored = (await foundLease(lease.id))?.lease;
      expect(stored).toMatchObject({
        status: lease.status,
        expiresAt: lease.expiresAt,
        ancestorIds: ancestorsOf(lease),
        holds: lease.holds.map(({ kind, unit }) => ({
          held: BigInt(lease.left.get(`${kind} ${unit}`) ?? 0) * MODEL_UNIT,
          used: BigInt(lease.used.get(`${kind} ${unit}`) ?? 0) * MODEL_UNIT,
        })),
      });
    }
    const { rows: wallets } = await api.postgres.pool.query(
      'select reserved::float from wallets where account_id = $1',
      [`acct_ra_${this.#id('org')}`],
    );
    expect(wallets).toMatchObject([{ reserved: oracle.heldOfWallet }]);
  }

  get #nowS(): number {
    return unixSeconds(api.clock);
  }

  #id(name: string): string {
    return `${this.#prefix}_${name}`;
  }
}

const foundLease = async (id: string) => (await findLeases(api.postgres, [{ ...project, id }]))[0];

/** Returns an active lease or, for some positions and when there is none, any lease. */
function leaseAt(leases: readonly TreeLease[], at: number): TreeLease | undefined {
  const active = leases.filter(({ status }) => status === 'active');
  const from = active.length === 0 || at % 6 === 0 ? leases : active;
  return from[at % from.length];
}

function ancestorsOf(lease: TreeLease): string[] {
  return lease.parent === undefined ? [] : [lease.parent.id, ...ancestorsOf(lease.parent)];
}

function codeOf(outcome: GroupResult<BudgetLease>): string | undefined {
  return 'error' in outcome ? (outcome.error as { code: string }).code : undefined;
}

it('holds and divides what the oracle says, in every tree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(treeStep, { minLength: 5, maxLength: 25, size: 'max' }), async (steps) => {
      runs += 1;
      const run = new Run();
      await run.begin();
      for (const one of steps) {
        await run.take(one);
        await run.compare();
      }
      expect(await calls.differences()).toEqual([]);
    }),
    { numRuns: propertyRuns(10) },
  );
});
