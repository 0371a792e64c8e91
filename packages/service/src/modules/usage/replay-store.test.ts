import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_SCOPE } from '../../testing/history.js';
import {
  createTestClickHouse,
  failedRow,
  idOf,
  insertUsageRows,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { ProjectHistory } from '../storage/index.js';
import {
  countInputs,
  inputBytes,
  type ReplaySelection,
  readInputs,
  voidedRemainders,
} from './replay-store.js';
import { reversalRow } from './reversal-row.js';
import type { UsageEventRow } from './row.js';

const FROM = 1_750_000_000;
const all: ReplaySelection = { extractorRuleSetId: 'ers_1', from: FROM, to: FROM + 100, share: 1 };
const signal = new AbortController().signal;

let store: TestClickHouse;
let history: ProjectHistory;
let rows: UsageEventRow[];

beforeAll(async () => {
  store = await createTestClickHouse();
  history = new ProjectHistory(store.clickhouse, TEST_SCOPE);
  rows = Array.from({ length: 60 }, (_, i) =>
    usageRow({
      // Several events share a second.
      occurredAt: FROM + Math.floor(i / 3),
      rawJson: `{"n":${i}}`,
      subjectIsSent: i % 2 === 0,
      xBilling: i === 0 ? '{"items":[]}' : '',
    }),
  );
  const [first] = rows as [UsageEventRow];
  await insertUsageRows(store.clickhouse, [
    failedRow({ id: idOf(first), occurredAt: first.occurredAt, extractorRuleSetId: 'ers_1' }),
  ]);
  rows[0] = { ...first, attempt: 1 };
  await insertUsageRows(store.clickhouse, rows);
  await insertUsageRows(store.clickhouse, [
    usageRow({ occurredAt: FROM, extractorRuleSetId: 'ers_2' }),
    usageRow({ occurredAt: FROM, tenantId: 'ten_2' }),
    usageRow({ occurredAt: FROM, projectId: 'prj_2' }),
    usageRow({ occurredAt: FROM - 1 }),
    usageRow({ occurredAt: FROM + 100 }),
  ]);
});

afterAll(() => store.drop());

async function readAll(selection: ReplaySelection, eventsMax: number, bytesMax = 1_000_000) {
  const pages: string[][] = [];
  let after: string | undefined;
  for (;;) {
    const page = await readInputs(history, selection, after, { eventsMax, bytesMax }, signal);
    const last = page.at(-1);
    if (last === undefined) return pages;
    pages.push(page.map(({ id }) => id));
    after = last.id;
  }
}

const inOrder = () => rows.map(idOf).sort();

describe('stored events that are read again', () => {
  it.each([2, 7, 60, 256])('come once each, oldest first, in pages of %i', async (eventsMax) => {
    const pages = await readAll(all, eventsMax);
    expect(pages.flat()).toEqual(inOrder());
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(eventsMax);
  });

  it('come as their last attempt left them, with all that was sent', async () => {
    const page = await readInputs(history, all, undefined, { eventsMax: 100, bytesMax: 1_000_000 }, signal);
    const [first, second] = rows.slice(0, 2).map((row) => page.find(({ id }) => id === idOf(row)));
    expect(first).toMatchObject({
      status: 'processed',
      raw_json: '{"n":0}',
      x_billing: '{"items":[]}',
      subject_is_sent: true,
      occurred_at_s: FROM,
      item_metric: ['llm.tokens'],
    });
    expect(second).toMatchObject({ raw_json: '{"n":1}', x_billing: '', subject_is_sent: false });
  });

  it('end a page at its bytes, but for one event', async () => {
    const pages = await readAll({ ...all, to: FROM + 3 }, 100, 1);
    expect(pages.map(({ length }) => length)).toEqual(rows.slice(0, 9).map(() => 1));
  });

  it('are counted, up to a bound, and measured', async () => {
    expect(await countInputs(history, all, 1_000)).toBe(60);
    expect(await countInputs(history, all, 10)).toBeLessThanOrEqual(10);
    const bytes = await inputBytes(history, all);
    expect(bytes).toBeGreaterThan(60 * 512);
    const none = { ...all, from: FROM + 50 };
    expect(await countInputs(history, none, 10)).toBe(0);
    expect(await inputBytes(history, none)).toBe(0);
    expect(await readAll(none, 10)).toEqual([]);
  });

  it('are sampled by their ids: the same each time, a smaller share within a larger one', async () => {
    const sampled = async (share: number) => (await readAll({ ...all, share }, 100)).flat();
    const [some, more] = [await sampled(0.3), await sampled(0.7)];
    expect(await sampled(0.3)).toEqual(some);
    expect(more).toEqual(expect.arrayContaining(some));
    expect(more.length).toBeGreaterThan(some.length);
    expect(more.length).toBeLessThan(60);
    expect(await countInputs(history, { ...all, share: 0.7 }, 100)).toBe(more.length);
    expect((await sampled(0.000_001)).length).toBe(0);
  });

  it('that are voided have amounts that are left, up to an event', async () => {
    const voided = [1n, 2n, 4n].map((units, index) =>
      usageRow({
        ...{ occurredAt: FROM + index, extractorRuleSetId: 'ers_voided', status: 'voided', corrections: 1 },
        items: [
          usageItem({ source: 'correction', quantity: 0n, amount: units * 10n ** 18n, currency: 'USD' }),
        ],
      }),
    );
    const [, second, third] = voided as [UsageEventRow, UsageEventRow, UsageEventRow];
    const inForce = usageRow({ occurredAt: FROM, extractorRuleSetId: 'ers_voided' });
    await insertUsageRows(store.clickhouse, [...voided, inForce]);
    const selection = { ...all, extractorRuleSetId: 'ers_voided' };
    const left = async (last?: UsageEventRow) =>
      (await voidedRemainders(history, selection, last && idOf(last))).map(({ amount }) => amount);
    expect(await left()).toEqual(['7']);
    expect(await left(second)).toEqual(['3']);
    const fields = { correctionId: 'cor_2', processedAtMs: 1, itemTransactionIds: [] };
    await insertUsageRows(store.clickhouse, [reversalRow(third, fields)]);
    expect(await left()).toEqual(['3']);
  });
});
