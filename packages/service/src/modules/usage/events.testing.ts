import { ManualClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import { PostgresSegmentQueue } from '../../platform/queue/index.js';
import { createTestApi, type TestApi } from '../../testing/api.js';
import {
  createTestClickHouse,
  failedRow,
  idOf,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { createUsageHistory } from '../storage/index.js';
import { registerUsageRoutes } from './index.js';
import type { UsageEventRow } from './row.js';

/** When the first event of the fixture occurred. */
export const FROM_S = 1_750_000_000;
/** The transaction that posted the first charge item of the rich event. */
export const LEDGER_TRANSACTION_ID = newId('led', new ManualClock(FROM_S * 1000 + 10_002));
/** The notes of the rich event. */
export const NOTE = {
  code: 'quantity_clamped',
  metric: 'llm.tokens',
  path: 'charge_item_extractors[0].less_paths',
  message: 'More than "code":"quantity_kept" has.',
} as const;
/** The `raw_json` of the rich event: digits, spaces and repeated keys that a parser would change. */
export const RAW_JSON = '{ "id": 12345678901234567890, "x": 1.0, "x": 1e2,\n "__proto__": {"a": "\\u0041"} }';

/** The usage routes over a project with five events, and some of others. */
export interface EventsFixture {
  readonly api: TestApi;
  readonly store: TestClickHouse;
  /** URL of the list. */
  readonly url: string;
  /** By their origin; `mended` failed at first. */
  readonly rows: Readonly<Record<'plain' | 'rich' | 'failed' | 'mended' | 'tied', UsageEventRow>>;
  close(): Promise<void>;
}

export async function openEventsFixture(): Promise<EventsFixture> {
  const store = await createTestClickHouse();
  const api = await createTestApi((app, { postgres, clock }) =>
    registerUsageRoutes(app, {
      clickhouse: store.clickhouse,
      history: createUsageHistory({ postgres }),
      postgres,
      queue: new PostgresSegmentQueue(postgres),
      room: { checkRoom: () => {}, hasRoomToReprocess: async () => true },
      clock,
      correctionAuthors: async () => [],
      answerRules: async (_project, questions) => questions.map(() => ({ aliases: [], totalPrice: null })),
      findUnpriced: async (_project, { id }, { charge_item_extractors: entries = [] }) => [
        { metric: `${entries[0]?.metric}`, quantity: id, nearest_rules: [], priced_metrics: [] },
      ],
      pricingVersions: {
        read: async (_scope, id, version) => ({
          config: { rules: [{ metric: 'llm.calls', match_expr: `dimensions.rules == "${id} ${version}"` }] },
        }),
      },
      extractorVersions: {
        read: async (_scope, id, version) => ({
          name: `${id} version ${version}`,
          config: {
            charge_item_extractors: [
              {
                name: 'prompt',
                metric: 'llm.tokens',
                path: 'usage.in',
                type: 'number',
                unit_price_expr: 'dec("1")',
              },
            ],
          },
        }),
      },
    }),
  );
  return {
    api,
    store,
    url: `/v1/projects/${api.projectId}/usage/events`,
    rows: await insertRows(api, store),
    close: async () => {
      await api.close();
      await store.drop();
    },
  };
}

export const textOf = (row: UsageEventRow) => `evt_${idOf(row)}`;

async function insertRows({ tenantId, projectId }: TestApi, store: TestClickHouse) {
  const of = { tenantId, projectId };
  const rows = {
    plain: usageRow({ ...of, occurredAt: FROM_S }),
    rich: usageRow({
      ...of,
      occurredAt: FROM_S + 10,
      posting: 'posted',
      source: 'batch',
      externalEventId: 'ext-1',
      idempotencyKey: 'key-1',
      subjectType: 'user',
      subjectId: "o'brien",
      accountId: 'acct_1',
      budgetLeaseId: 'bl_1',
      leaseStatus: 'applied',
      processedAtMs: FROM_S * 1000 + 10_002,
      itemTransactionIds: [LEDGER_TRANSACTION_ID, ''],
      dimensions: new Map([
        ['model', 'large'],
        ['__proto__', 'x'],
      ]),
      rawJson: RAW_JSON,
      metadata: '{"note":0.10}',
      xBilling: '{"items":[]}',
      notes: JSON.stringify([NOTE]),
      items: [
        usageItem(),
        usageItem({
          extractorName: '',
          metric: 'llm.calls',
          unit: '',
          currency: '',
          quantity: stored('12345678901234567890.000000000000000001'),
          unitPrice: null,
          amount: 0n,
          pricingSource: 'unpriced',
        }),
      ],
    }),
    failed: failedRow({ ...of, occurredAt: FROM_S + 20, extractorVersion: 0 }),
    mended: usageRow({ ...of, occurredAt: FROM_S + 30, attempt: 1 }),
    tied: usageRow({ ...of, occurredAt: FROM_S + 30 }),
  };
  const before = failedRow({ ...of, id: idOf(rows.mended), occurredAt: FROM_S + 30 });
  await insertUsageRows(store.clickhouse, [before, rows.plain, rows.failed]);
  await insertUsageRows(store.clickhouse, [rows.rich, rows.mended, rows.tied]);
  await insertUsageRows(store.clickhouse, [
    usageRow({ tenantId, projectId: 'prj_other' }),
    usageRow({ tenantId: 'ten_other', projectId }),
  ]);
  return rows;
}
