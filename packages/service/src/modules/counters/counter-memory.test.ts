import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fromStored, toText } from '../../kernel/decimal.js';
import { UTC_CALENDAR } from '../../kernel/period.js';
import { transaction } from '../../platform/postgres/index.js';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import type { ChargeItem, CounterTotals } from '../rules/index.js';
import { BatchCounters, type EventToCount } from './batch-counters.js';
import { CounterMemory } from './counter-memory.js';

const AGGREGATES = ['sum', 'count', 'max', 'unique'] as const;
const SUBJECTS = ['a', 'b', 'c'];
/** The first and the last second of months. */
const TIMES = [0, 2_678_399, 2_678_400];
const WORKERS = 2;

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

interface Usage {
  readonly subject: string;
  readonly quantity: bigint;
  readonly occurredAt: number;
}

interface Batch {
  /** The worker that rates it; one above `WORKERS` remembers nothing, as corrections do. */
  readonly worker: number;
  readonly usages: readonly Usage[];
  readonly end: 'commit' | 'rollback';
}

const batch: fc.Arbitrary<Batch> = fc.record({
  worker: fc.nat(WORKERS),
  usages: fc.array(
    fc.record({
      subject: fc.constantFrom(...SUBJECTS),
      quantity: fc.bigInt({ min: 0n, max: 3n }),
      occurredAt: fc.constantFrom(...TIMES),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  end: fc.constantFrom('commit', 'commit', 'rollback'),
});

/** An event with an item for each aggregate, which costs what it adds to the total. */
function eventOf(projectId: string, { subject, quantity, occurredAt }: Usage, seen: CounterTotals[]) {
  const counted = AGGREGATES.map((aggregate) => ({
    counter: {
      ...{ name: aggregate, period: { kind: 'calendar', unit: 'month' } as const, per: 'subject' as const },
      ...{ by: [], aggregate, of: aggregate === 'unique' ? 'size' : undefined, currency: 'USD' },
    },
    ...{ ruleSetId: 'prs_1', pricingSource: 'pricing_rule_set' as const, quantity, by: [], path: '' },
    value: aggregate === 'unique' ? String(quantity) : undefined,
  }));
  const price: EventToCount['counting']['price'] = (totals) => {
    const items = totals.map((each) => {
      if (each === undefined) throw new Error('a counted item has no totals');
      seen.push(each);
      const amount = each.after - (each.before ?? 0n);
      return { amount, discount: 0n, cumulative: 'x', ruleSetVersion: 1, ruleName: 'r "1"' } as ChargeItem;
    });
    return { ok: true, items, notes: [], dimensions: new Map() };
  };
  const counting = { ok: undefined, dimensions: new Map(), counted, price, draft: price as never };
  const scope = { tenantId: 'ten_1', projectId, projectNo: 1 };
  const settings = UTC_CALENDAR;
  return { scope, subject: { type: 'user', id: subject }, accountId: '', occurredAt, settings, counting };
}

/** The totals that a list of usages must show, in the order of `AGGREGATES`, after all usages before it. */
function expectedTotals(before: readonly Usage[], usages: readonly Usage[]): (bigint | undefined)[] {
  const all = [...before];
  return usages.flatMap((usage) => {
    const isSame = ({ subject, occurredAt }: Usage) =>
      subject === usage.subject && monthOf(occurredAt) === monthOf(usage.occurredAt);
    const former = all.filter(isSame).map(({ quantity }) => quantity);
    all.push(usage);
    return [totalsOf(former), totalsOf([...former, usage.quantity])].flat();
  });
}

function monthOf(atS: number): number {
  return new Date(atS * 1_000).getUTCMonth();
}

function totalsOf(quantities: readonly bigint[]): (bigint | undefined)[] {
  if (quantities.length === 0) return AGGREGATES.map(() => undefined);
  const one = 10n ** 18n;
  return [
    quantities.reduce((sum, quantity) => sum + quantity, 0n),
    BigInt(quantities.length) * one,
    quantities.toSorted((a, b) => Number(a - b)).at(-1),
    BigInt(new Set(quantities).size) * one,
  ];
}

it('is right about what it remembers, whoever else counts and whatever is rolled back', async () => {
  let projects = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 12 }), async (batches) => {
      const projectId = `prj_${++projects}`;
      await createProject(store.postgres, 'ten_1', projectId);
      const memories = Array.from({ length: WORKERS }, () => new CounterMemory());
      const counted: Usage[] = [];
      for (const { worker, usages, end } of batches) {
        const seen: CounterTotals[] = [];
        const run = transaction(store.postgres, async (tx) => {
          const memory = memories[worker];
          const counters = new BatchCounters(tx, { kind: 'write', ...(memory && { memory: () => memory }) });
          const events = await counters.prepare(usages.map((usage) => eventOf(projectId, usage, seen)));
          for (const event of events) counters.price(event);
          await counters.write();
          if (end === 'rollback') throw new Error('rolled back');
        });
        await run.catch((error: Error) => expect(error.message).toBe('rolled back'));
        const totals = Array.from({ length: usages.length }, (_, index) => {
          const ofEvent = seen.slice(index * AGGREGATES.length, (index + 1) * AGGREGATES.length);
          return [...ofEvent.map(({ before }) => before), ...ofEvent.map(({ after }) => after)];
        });
        expect(totals.flat()).toEqual(expectedTotals(counted, usages));
        if (end === 'commit') counted.push(...usages);
      }
      const { rows } = await store.postgres.pool.query<{ quantity: string; amount: string }>(
        `select quantity::text, amount::text from usage_counters join usage_counter_totals on id = totals_id
         where project_id = '${projectId}' and counter = 'sum' order by subject_id, period_start`,
      );
      const sums = new Map<string, bigint>();
      for (const { subject, occurredAt, quantity } of counted) {
        const key = `${subject} ${monthOf(occurredAt)}`;
        sums.set(key, (sums.get(key) ?? 0n) + quantity);
      }
      const stored = [...sums].sort().map(([, sum]) => toText(fromStored(sum)));
      expect(rows.map(({ quantity }) => Number(quantity))).toEqual(stored.map(Number));
      for (const { quantity, amount } of rows) expect(amount).toBe(quantity);
    }),
    { numRuns: 30 },
  );
});

it('reads no counter that it remembers', async () => {
  await createProject(store.postgres, 'ten_1', 'prj_remembered');
  const memory = new CounterMemory();
  const usage: Usage = { subject: 'a', quantity: 1n, occurredAt: 0 };
  const statements: string[][] = [];
  for (let round = 0; round < 2; round += 1) {
    await transaction(store.postgres, async (tx) => {
      const counters = new BatchCounters(tx, { kind: 'write', memory: () => memory });
      const executed: string[] = [];
      const executor = tx.getExecutor();
      const execute = executor.executeQuery.bind(executor);
      executor.executeQuery = (query, ...rest) => {
        executed.push(query.sql);
        return execute(query, ...rest);
      };
      const events = await counters.prepare([eventOf('prj_remembered', usage, [])]);
      executor.executeQuery = execute;
      for (const event of events) counters.price(event);
      await counters.write();
      statements.push(executed.filter((text) => text.includes('usage_counters')));
    });
  }
  // One for its period, and one for those near it.
  expect(statements.map(({ length }) => length)).toEqual([2, 0]);
});

it('remembers few periods of a counter, and is right about the others', async () => {
  await createProject(store.postgres, 'ten_1', 'prj_periods');
  const memory = new CounterMemory();
  const count = (months: readonly number[]) =>
    transaction(store.postgres, async (tx) => {
      const seen: CounterTotals[] = [];
      const counters = new BatchCounters(tx, { kind: 'write', memory: () => memory });
      const eventAt = (month: number) =>
        eventOf('prj_periods', { subject: 'a', quantity: 1n, occurredAt: month * 2_678_400 }, seen);
      for (const event of await counters.prepare(months.map(eventAt))) counters.price(event);
      await counters.write();
      return seen.filter((_, index) => index % AGGREGATES.length === 0).map(({ after }) => after);
    });
  const months = Array.from({ length: 10 }, (_, month) => month);
  for (const month of months) expect(await count([month])).toEqual([1n]);
  expect(await count(months)).toEqual(months.map(() => 2n));
  const { rows } = await store.postgres.pool.query<{ stateId: string }>(
    `select state_id as "stateId" from usage_counter_states where project_id = 'prj_periods'`,
  );
  const scope = { tenantId: 'ten_1', projectId: 'prj_periods', projectNo: 1 };
  const { counting, ...owner } = eventOf('prj_periods', { subject: 'a', quantity: 1n, occurredAt: 0 }, []);
  const known = memory.take(scope, rows[0]?.stateId).of(counting.counted, owner);
  expect(known.map((each) => each?.periods.length)).toEqual(AGGREGATES.map(() => 4));
});
