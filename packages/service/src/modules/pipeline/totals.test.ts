import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usageItem, usageRow } from '../../testing/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { BatchTotals, CHANGED_RANGES_MAX, ChangedMinutes, PostedTotals } from './totals.js';

const DAY_S = 86_400;

const costOf = (amount: bigint, currency: string) => ({
  ...{ amount, currency },
  ...{ ruleSetId: 'prs_cost', ruleSetVersion: 1, ruleName: 'a' },
});

const item = fc
  .record({
    metric: fc.constantFrom('a', 'b', 'a.b'),
    unit: fc.constantFrom('', 'token'),
    currency: fc.constantFrom('', 'USD', 'EUR'),
    quantity: fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }),
    amount: fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }),
    cost: fc.option(
      fc
        .tuple(fc.bigInt({ min: -9n, max: 99n }), fc.constantFrom('USD', 'JPY'))
        .map(([amount, currency]) => costOf(amount, currency)),
    ),
  })
  .map(usageItem);

const row: fc.Arbitrary<UsageEventRow> = fc
  .record({
    projectId: fc.constantFrom('prj_1', 'prj_2', 'prj_10'),
    occurredAt: fc.constantFrom(0, DAY_S - 1, DAY_S, 5 * DAY_S),
    status: fc.constantFrom('processed' as const, 'failed' as const),
    items: fc.array(item, { maxLength: 3 }),
  })
  .map(usageRow);

function totalsOf(rows: readonly UsageEventRow[]): BatchTotals {
  const totals = new BatchTotals();
  for (const one of rows) totals.addRow(one, false);
  return totals;
}

describe('BatchTotals', () => {
  it('adds up what its rows hold, by project, day, metric, unit and currency', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
        const totals = totalsOf(rows);
        const items = rows.flatMap((one) =>
          one.items.map((charge) => ({
            ...charge,
            projectId: one.projectId,
            day: Math.floor(one.occurredAt / DAY_S),
          })),
        );
        const usage = totals.usageTotals();
        for (const total of usage) {
          const same = items.filter((one) =>
            (['projectId', 'day', 'metric', 'unit', 'currency'] as const).every(
              (key) => one[key] === total[key],
            ),
          );
          expect(total.itemCount).toBe(same.length);
          expect(total.quantity).toBe(same.reduce((sum, { quantity }) => sum + quantity, 0n));
          expect(total.amount).toBe(same.reduce((sum, { amount }) => sum + amount, 0n));
          const costs = items.flatMap(({ cost, ...one }) =>
            (['projectId', 'day', 'metric', 'unit'] as const).every((key) => one[key] === total[key]) &&
            cost?.currency === total.currency
              ? [cost.amount]
              : [],
          );
          expect([total.costCount, total.cost]).toEqual([
            costs.length,
            costs.reduce((sum, each) => sum + each, 0n),
          ]);
        }
        expect(usage.reduce((sum, { itemCount }) => sum + itemCount, 0)).toBe(items.length);
        expect(usage.reduce((sum, { costCount }) => sum + costCount, 0)).toBe(
          items.filter(({ cost }) => cost !== null).length,
        );
        const keys = usage.map(({ projectId, day, metric, unit, currency }) =>
          JSON.stringify([projectId, day, metric, unit, currency]),
        );
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  it('lists totals in one order, however its rows came', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
        const [forward, backward] = [totalsOf(rows), totalsOf(rows.toReversed())];
        expect(backward.usageTotals()).toEqual(forward.usageTotals());
        expect(backward.eventTotals()).toEqual(forward.eventTotals());
        expect(backward.ingestTotals()).toEqual(forward.ingestTotals());
      }),
    );
  });

  it('counts outcomes by day and by project, duplicates by project alone', () => {
    const totals = totalsOf([
      usageRow({ occurredAt: 0 }),
      usageRow({ occurredAt: DAY_S, status: 'failed', items: [] }),
      usageRow({
        occurredAt: DAY_S,
        items: [usageItem({ pricingSource: 'unpriced' }), usageItem({ pricingSource: 'unpriced' })],
      }),
    ]);
    totals.addDuplicates('ten_1', 'prj_1', 1);
    totals.addDuplicates('ten_2', 'prj_other', 1);
    expect(totals.eventTotals()).toEqual([
      {
        tenantId: 'ten_1',
        projectId: 'prj_1',
        day: 0,
        processed: 1,
        failed: 0,
        voided: 0,
        unpriced: 0,
        corrections: 0,
      },
      {
        tenantId: 'ten_1',
        projectId: 'prj_1',
        day: 1,
        processed: 1,
        failed: 1,
        voided: 0,
        unpriced: 1,
        corrections: 0,
      },
    ]);
    expect(totals.ingestTotals()).toEqual([
      { tenantId: 'ten_1', projectId: 'prj_1', processed: 2, failed: 1, voided: 0, duplicate: 1 },
      { tenantId: 'ten_2', projectId: 'prj_other', processed: 0, failed: 0, voided: 0, duplicate: 1 },
    ]);
    expect(totals.projects().map(({ projectId }) => projectId)).toEqual(['prj_1']);
  });

  it.each<['processed' | 'failed', { processed: number; failed: number }]>([
    ['processed', { processed: 1, failed: -1 }],
    ['failed', { processed: 0, failed: 0 }],
  ])('moves an event that was rated again and %s', (status, moved) => {
    const totals = new BatchTotals();
    totals.addRow(usageRow({ occurredAt: 0, status }), true);
    expect(totals.eventTotals()).toMatchObject([moved]);
    expect(totals.ingestTotals()).toMatchObject([moved]);
  });
});

it('stops the batch where a ledger transaction is named for a missing charge item', () => {
  const named = usageRow({ items: [], itemTransactionIds: ['led_1'] });
  expect(() => new PostedTotals().addRow(named)).toThrow('for a missing charge item');
});

function spansOf(times: readonly number[]) {
  const minutes = new ChangedMinutes();
  for (const time of times) minutes.add(time);
  return minutes.spans();
}

describe('ChangedMinutes', () => {
  it('joins minutes that follow each other', () => {
    expect(spansOf([])).toEqual([]);
    expect(spansOf([0, 59])).toEqual([{ from: 0, to: 60 }]);
    expect(spansOf([300, 61, 0, 120])).toEqual([
      { from: 0, to: 180 },
      { from: 300, to: 360 },
    ]);
  });

  it('joins the nearest where there are too many', () => {
    const lonely = Array.from({ length: CHANGED_RANGES_MAX - 1 }, (_, index) => index * 86_400);
    const [near, nearer] = [50 * 86_400, 50 * 86_400 + 120];
    const spans = spansOf([...lonely, near, nearer]);
    expect(spans).toHaveLength(CHANGED_RANGES_MAX);
    expect(spans.at(-1)).toEqual({ from: near, to: nearer + 60 });
  });

  it('covers every time, in whole minutes, in few spans that rise and do not meet', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200_000), { maxLength: 200 }), (times) => {
        const spans = spansOf(times);
        expect(spans.length).toBeLessThanOrEqual(CHANGED_RANGES_MAX);
        for (const time of times) expect(spans.some(({ from, to }) => from <= time && time < to)).toBe(true);
        for (const [index, { from, to }] of spans.entries()) {
          expect([from % 60, to % 60]).toEqual([0, 0]);
          expect(from).toBeGreaterThan(spans[index - 1]?.to ?? -1);
        }
      }),
    );
  });
});
