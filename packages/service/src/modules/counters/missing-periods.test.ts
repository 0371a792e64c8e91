import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Period, UTC_CALENDAR, type WindowSettings } from '../../kernel/period.js';
import { transaction } from '../../platform/postgres/index.js';
import { createProject, createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { propertyRuns } from '../../testing/property-runs.js';
import type { ChargeItem } from '../rules/index.js';
import { BatchCounters, type CountersUse, type EventToCount } from './batch-counters.js';
import { type Counter, counterKey } from './counter.js';
import { CounterMemory } from './counter-memory.js';
import { CounterPeriod } from './counter-period.js';
import { writeCounters } from './counter-store.js';
import { anyMovedPeriod, anyPeriodChange, PeriodsModel } from './periods.testing.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

interface CountedTime {
  readonly projectId: string;
  readonly period: Period;
  readonly settings: WindowSettings;
  readonly occurredAt: number;
}

const DAY_S = 86_400;

function definitionOf(period: Period) {
  return {
    ...{ name: 'calls', period, per: 'subject' as const, by: [], aggregate: 'sum' as const },
    ...{ of: undefined, currency: 'USD' },
  };
}

/** An event with one item of the quantity 1, which costs what it adds to the total. */
function eventAt({ projectId, period, settings, occurredAt }: CountedTime): EventToCount {
  const counter = definitionOf(period);
  const item = {
    ...{ counter, ruleSetId: 'prs_1', pricingSource: 'pricing_rule_set' as const },
    ...{ quantity: 1n, by: [], path: '', value: undefined },
  };
  const price: EventToCount['counting']['price'] = () => {
    const charge = { amount: 1n, discount: 0n, cumulative: 'x', ruleSetVersion: 1, ruleName: 'r "1"' };
    return { ok: true, items: [charge as ChargeItem], notes: [], dimensions: new Map() };
  };
  const counting = { ok: undefined, dimensions: new Map(), counted: [item], price, draft: price as never };
  const scope = { tenantId: 'ten_1', projectId, projectNo: 1 };
  return { scope, subject: { type: 'user', id: 'a' }, accountId: '', occurredAt, settings, counting };
}

/** Counts events in one transaction, and returns the starts and the ends of their periods. */
function count(use: CountersUse, times: readonly CountedTime[]): Promise<(number | undefined)[][]> {
  return transaction(store.postgres, async (tx) => {
    const counters = new BatchCounters(tx, use);
    const counted = await counters.prepare(times.map(eventAt));
    if (use.kind === 'write') {
      for (const event of counted) counters.price(event);
      await counters.write();
    }
    return counted.map(({ periods: [period] }) => [period?.startS, period?.endS]);
  });
}

/** Two workers, one that remembers nothing, and a reader, such as a backtest. */
const USES = ['a', 'b', 'forgets', 'reads'] as const;

it('all transactions find the same periods, whatever was changed', async () => {
  let projects = 0;
  const run = fc.record({
    period: anyMovedPeriod,
    changes: fc.array(fc.record({ change: anyPeriodChange, use: fc.constantFrom(...USES) }), {
      minLength: 2,
      maxLength: 6,
    }),
    isOneByOne: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(run, async ({ period, changes, isOneByOne }) => {
      const projectId = `prj_${projects++}`;
      await createProject(store.postgres, 'ten_1', projectId);
      const model = new PeriodsModel(period);
      const [a, b] = [new CounterMemory(), new CounterMemory()];
      const uses: Record<(typeof USES)[number], CountersUse> = {
        a: { kind: 'write', memory: () => a },
        b: { kind: 'write', memory: () => b },
        forgets: { kind: 'write' },
        reads: { kind: 'read' },
      };
      for (const { change, use } of changes) {
        const { settings, instants } = change;
        const times = instants.map((occurredAt) => ({ projectId, period, settings, occurredAt }));
        const found: (number | undefined)[][] = [];
        for (const batch of isOneByOne ? times.map((time) => [time]) : [times])
          found.push(...(await count(uses[use], batch)));
        const stored = [...model.stored];
        const expected = instants.map((atS) => model.count(settings, atS));
        expect(found).toEqual(expected.map(({ startS, endS }) => [startS, endS]));
        if (use === 'reads') model.stored.splice(0, model.stored.length, ...stored);
      }
    }),
    { numRuns: propertyRuns(20) },
  );
}, 120_000);

it('a rest between two stored periods is a period of its own, however short', async () => {
  const projectId = 'prj_rest';
  await createProject(store.postgres, 'ten_1', projectId);
  const period: Period = { kind: 'calendar', unit: 'day' };
  const counter: Counter = {
    ...{ scope: { tenantId: 'ten_1', projectId, projectNo: 1 }, ruleSetId: 'prs_1', by: [] },
    ...{ definition: definitionOf(period), subjectType: 'user', subjectId: 'a', accountId: '' },
  };
  const key = counterKey(counter);
  const restS = DAY_S - 60;
  const stored = [
    new CounterPeriod(counter, key, 0, restS),
    new CounterPeriod(counter, key, DAY_S, 2 * DAY_S),
  ];
  await transaction(store.postgres, (tx) => writeCounters(tx, stored));
  const time = { projectId, period, settings: UTC_CALENDAR, occurredAt: restS };
  expect(await count({ kind: 'write' }, [time])).toEqual([[restS, DAY_S]]);
});
