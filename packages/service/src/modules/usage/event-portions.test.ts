import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { TEST_SCOPE } from '../../testing/history.js';
import {
  correctedRows,
  createTestClickHouse,
  insertCorrections,
  insertUsageRows,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import type { EventFilter } from './event-filter.js';
import { listEvents } from './event-list.js';
import { textOf } from './events.testing.js';
import { eventPages } from './export-pages.js';

const READ_BYTES_MAX = 16 * 1_048_576;
const LARGE_S = 1_750_000_000;
const GROWN_S = LARGE_S + 1_000;
const ITEMS_S = LARGE_S + 2_000;
/** Eight of them are a portion. */
const LONG = 'x'.repeat(500_000);
const LARGE = new Map([['long', LONG]]);

const large = Array.from({ length: 50 }, (_, n) => usageRow({ occurredAt: LARGE_S + n, dimensions: LARGE }));
/** Their first revisions are small. */
const grown = Array.from({ length: 50 }, (_, n) =>
  usageRow({ occurredAt: GROWN_S + n, subjectType: 'former', subjectId: 'ada' }),
);
/** Their charge items are large, and their dimensions small. */
const withItems = Array.from({ length: 50 }, (_, n) =>
  usageRow({ occurredAt: ITEMS_S + n, items: [usageItem({ ruleName: LONG })] }),
);

let store: TestClickHouse;
let largestRead = 0;
const clickhouse = {
  query: async <Row>(...args: Parameters<ClickHouse['query']>) => {
    const rows = await store.clickhouse.query<Row>(...args);
    largestRead = Math.max(largestRead, JSON.stringify(rows).length);
    return rows;
  },
};

beforeAll(async () => {
  store = await createTestClickHouse();
  await insertUsageRows(store.clickhouse, large);
  await insertUsageRows(store.clickhouse, grown);
  await insertUsageRows(store.clickhouse, withItems);
  await insertCorrections(
    store.clickhouse,
    grown.map((row) => correctedRows(row, { subjectType: 'present', dimensions: LARGE })),
  );
});
afterAll(() => store.drop());
beforeEach(() => {
  largestRead = 0;
});

const within = (from: number): EventFilter => ({ from, to: from + 1_000, conditions: [] });

/** Returns the ids on each page of the list. */
async function pagesOf(filter: EventFilter): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const at = cursor === undefined ? {} : { cursor };
    const page = await listEvents(clickhouse, TEST_SCOPE, { ...filter, limit: 100, ...at });
    pages.push(page.events.map(({ raw_event_id: id }) => id));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return pages;
}

async function exported(filter: EventFilter): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of eventPages(clickhouse, TEST_SCOPE, filter))
    ids.push(...page.map(({ raw_event_id: id }) => id));
  return ids;
}

it('a page of the list ends early where events are large, and each read is bounded', async () => {
  const pages = await pagesOf(within(LARGE_S));
  expect(pages.map((page) => page.length)).toEqual([40, 10]);
  expect(pages.flat()).toEqual(large.map(textOf).reverse());
  expect(largestRead).toBeLessThan(READ_BYTES_MAX);
});

it.each([
  ['dimensions of later revisions', GROWN_S, grown],
  ['charge items', ITEMS_S, withItems],
] as const)('large %s are read in parts', async (_, from, rows) => {
  expect(await exported(within(from))).toEqual(rows.map(textOf));
  expect((await pagesOf(within(from))).flat()).toEqual(rows.map(textOf).reverse());
  expect(largestRead).toBeLessThan(READ_BYTES_MAX);
});

it('events whose small former revisions match are read in parts', async () => {
  const former = { ...within(GROWN_S), subject_type: 'former' };
  expect(await exported(former)).toEqual([]);
  expect((await pagesOf(former)).flat()).toEqual([]);
  expect(largestRead).toBeLessThan(READ_BYTES_MAX);
});
