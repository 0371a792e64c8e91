import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromStored, toText } from '../../kernel/decimal.js';
import { createTestClickHouse, type TestClickHouse, usageItem, usageRow } from '../../testing/index.js';
import {
  EVENT_STATUSES,
  ITEM_SOURCES,
  type ItemCostRow,
  LEASE_STATUSES,
  POSTINGS,
  PRICING_SOURCES,
  type UsageEventRow,
  type UsageItemRow,
} from './row.js';
import { USAGE_EVENT_COLUMNS, UsageBlock } from './usage-block.js';

const UINT32_MAX = 0xffff_ffff;
/** The greatest value with 20 integer and 18 fraction digits. */
const STORED_MAX = 10n ** 38n - 1n;
/** DateTime64(3) ends with the year 2299. */
const MS_MAX = Date.UTC(2299, 11, 31);
const ROWS_PER_RUN = 60;

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    '',
    '\0',
    'a\0b',
    'é',
    '漢字'.repeat(60),
    '𝄞',
    '\n\n',
    "'\\\t",
    'x'.repeat(127),
    'x'.repeat(128),
  ),
);
const decimal = fc.oneof(
  fc.bigInt({ min: -STORED_MAX, max: STORED_MAX }),
  fc.constantFrom(
    0n,
    1n,
    -1n,
    STORED_MAX,
    -STORED_MAX,
    2n ** 63n,
    -(2n ** 63n),
    2n ** 64n,
    -(2n ** 64n),
    2n ** 64n - 1n,
  ),
);
const keyOf = <T extends object>(names: T) => fc.constantFrom(...(Object.keys(names) as (keyof T)[]));

const cost: fc.Arbitrary<ItemCostRow> = fc.record({
  amount: decimal,
  currency: anyText.filter((text) => text !== ''),
  ruleSetId: anyText,
  ruleSetVersion: fc.nat(UINT32_MAX),
  ruleName: anyText,
});

const item: fc.Arbitrary<UsageItemRow> = fc.record({
  extractorName: anyText,
  metric: anyText,
  unit: anyText,
  currency: anyText,
  quantity: decimal,
  unitPrice: fc.option(decimal),
  amount: decimal,
  discount: decimal,
  source: keyOf(ITEM_SOURCES),
  pricingSource: keyOf(PRICING_SOURCES),
  ruleSetId: anyText,
  ruleSetVersion: fc.nat(UINT32_MAX),
  ruleName: anyText,
  cumulative: anyText,
  cost: fc.option(cost),
});

const rated: fc.Arbitrary<UsageEventRow> = fc.record({
  tenantId: anyText,
  projectId: anyText,
  // The table's key: rows of one block must differ in it.
  rawEventId: fc.constant(0).map(() => randomBytes(16)),
  occurredAt: fc.oneof(fc.nat(UINT32_MAX), fc.constantFrom(0, UINT32_MAX)),
  attempt: fc.nat(0xffff),
  corrections: fc.nat(UINT32_MAX),
  isReversal: fc.boolean(),
  correctionId: anyText,
  receivedAtMs: fc.nat(MS_MAX),
  processedAtMs: fc.nat(MS_MAX),
  status: keyOf(EVENT_STATUSES),
  posting: keyOf(POSTINGS),
  source: anyText,
  externalEventId: anyText,
  idempotencyKey: anyText,
  subjectType: anyText,
  subjectId: anyText,
  parents: fc.array(fc.record({ type: anyText, id: anyText }), { maxLength: 3 }),
  subjectIsSent: fc.boolean(),
  accountId: anyText,
  budgetLeaseId: anyText,
  leaseStatus: keyOf(LEASE_STATUSES),
  extractorRuleSetId: anyText,
  extractorVersion: fc.nat(UINT32_MAX),
  dimensions: fc
    .uniqueArray(fc.tuple(anyText, anyText), { selector: ([name]) => name, maxLength: 5 })
    .map((entries) => new Map(entries)),
  excludedDimensions: fc.array(anyText, { maxLength: 3 }),
  failureCode: anyText,
  failureMessage: anyText,
  failurePath: anyText,
  rawJson: fc.oneof(anyText, fc.uint8Array({ maxLength: 300 })),
  metadata: anyText,
  xBilling: anyText,
  notes: anyText,
  items: fc.array(item, { maxLength: 4 }),
  itemTransactionIds: fc.constant([]),
});

const row = fc.oneof(
  rated,
  fc.tuple(rated, fc.array(anyText, { minLength: 4, maxLength: 4 })).map(([event, texts]) => ({
    ...event,
    itemTransactionIds: texts.slice(0, event.items.length),
  })),
);

/** Returns a string column as hexadecimal, which is the same for all bytes. */
function hex(text: string | Uint8Array): string {
  return Buffer.from(text as string)
    .toString('hex')
    .toUpperCase();
}

/** Returns the values as which a row must be read back, in the form of `SELECTED`. */
function expected(row: UsageEventRow): unknown {
  const texts = [
    row.tenantId,
    row.projectId,
    row.rawEventId,
    row.source,
    row.correctionId,
    row.externalEventId,
    row.idempotencyKey,
    row.subjectType,
    row.subjectId,
    row.accountId,
    row.budgetLeaseId,
    row.extractorRuleSetId,
    row.failureCode,
    row.failureMessage,
    row.failurePath,
    row.rawJson,
    row.metadata,
    row.xBilling,
    row.notes,
  ];
  const numbers = [
    row.occurredAt,
    row.attempt,
    row.corrections,
    row.receivedAtMs,
    row.processedAtMs,
    row.extractorVersion,
  ];
  return {
    texts: texts.map(hex),
    numbers: numbers.map(String),
    names: [row.status, row.posting, row.leaseStatus, String(row.subjectIsSent), String(row.isReversal)],
    dimensions: [...row.dimensions].map(([name, value]) => [hex(name), hex(value)]),
    raw_only: row.excludedDimensions.map(hex),
    transactions: row.items.map((_, index) => hex(row.itemTransactionIds[index] ?? '')),
    items: row.items.map((charge) => [
      [
        charge.extractorName,
        charge.metric,
        charge.unit,
        charge.currency,
        charge.ruleSetId,
        charge.ruleName,
      ].map(hex),
      [charge.quantity, charge.unitPrice, charge.amount, charge.discount].map((value) =>
        value === null ? null : toText(fromStored(value)),
      ),
      [charge.source, charge.pricingSource],
      charge.ruleSetVersion,
      [charge.cost?.currency ?? '', charge.cost?.ruleSetId ?? '', charge.cost?.ruleName ?? ''].map(hex),
      [toText(fromStored(charge.cost?.amount ?? 0n)), String(charge.cost?.ruleSetVersion ?? 0)],
    ]),
  };
}

const TEXT_COLUMNS = [
  'tenant_id',
  'project_id',
  'raw_event_id',
  'source',
  'correction_id',
  'external_event_id',
  'idempotency_key',
  'subject_type',
  'subject_id',
  'account_id',
  'budget_lease_id',
  'extractor_rule_set_id',
  'failure_code',
  'failure_message',
  'failure_path',
  'raw_json',
  'metadata',
  'x_billing',
  'notes',
];
const hexOf = (column: string) => `hex(${column})`;
const SELECTED = `
  [${TEXT_COLUMNS.map(hexOf).join(', ')}] as texts,
  [toString(toUnixTimestamp(occurred_at)), toString(attempt), toString(corrections),
    toString(toUnixTimestamp64Milli(received_at)), toString(toUnixTimestamp64Milli(processed_at)), toString(extractor_version)] as numbers,
  [toString(status), toString(posting), toString(lease_status), toString(subject_is_sent), toString(is_counter)] as names,
  arrayMap((name, value) -> [hex(name), hex(value)], mapKeys(dimensions), mapValues(dimensions)) as dimensions,
  arrayMap(name -> hex(name), raw_only) as raw_only,
  arrayMap(id -> hex(id), item.ledger_transaction_id) as transactions,
  arrayMap((extractor, metric, unit, currency, rule_set, rule, quantity, price, amount, discount, source, pricing, version,
      cost, cost_currency, cost_rule_set, cost_version, cost_rule) -> tuple(
      [hex(extractor), hex(metric), hex(unit), hex(currency), hex(rule_set), hex(rule)],
      [toString(quantity), toString(price), toString(amount), toString(discount)],
      [toString(source), toString(pricing)],
      version,
      [hex(cost_currency), hex(cost_rule_set), hex(cost_rule)],
      [toString(cost), toString(cost_version)]),
    item.extractor_name, item.metric, item.unit, item.currency, item.rule_set_id, item.rule_name, item.quantity,
    item.unit_price, item.amount, item.discount, item.source, item.pricing_source, item.rule_set_version,
    item.cost_amount, item.cost_currency, item.cost_rule_set_id, item.cost_rule_set_version, item.cost_rule_name) as items`;

describe('a row of usage_events', () => {
  let test: TestClickHouse;
  let blocks = 0;
  /** Used again in every run, as in a loop of the worker. */
  const block = new UsageBlock();

  beforeAll(async () => {
    test = await createTestClickHouse();
  });

  afterAll(() => test.drop());

  async function roundTrip(rows: readonly UsageEventRow[]): Promise<unknown[]> {
    block.clear();
    for (const one of rows) block.add(one);
    const data = { bytes: block.bytes() };
    await test.clickhouse.insertRows(
      'usage_events',
      USAGE_EVENT_COLUMNS,
      data,
      rows.length,
      `row-${blocks++}`,
    );
    const read = await test.clickhouse.query<{ id: string }>(
      `select hex(raw_event_id) as id, ${SELECTED} from usage_events where hex(raw_event_id) in {ids:Array(String)}`,
      { ids: rows.map(({ rawEventId }) => hex(rawEventId)) },
    );
    const byId = new Map(read.map(({ id, ...rest }) => [id, rest]));
    return rows.map(({ rawEventId }) => byId.get(hex(rawEventId)));
  }

  it('reads back as it was written, whatever it holds', async () => {
    const rows = fc.sample(row, { numRuns: ROWS_PER_RUN * 3 });
    for (let start = 0; start < rows.length; start += ROWS_PER_RUN) {
      const some = rows.slice(start, start + ROWS_PER_RUN);
      expect(await roundTrip(some)).toEqual(some.map(expected));
    }
  });

  it('writes texts that are the same in UTF-8, though not in memory', async () => {
    const texts = ['\ud800', '\ud801', '\ufffd', 'a\ud800'];
    const rows = texts.map((text) =>
      usageRow({ subjectType: text, source: text, items: [usageItem({ metric: text })] }),
    );
    expect(await roundTrip(rows)).toEqual(rows.map(expected));
  });

  it('writes raw_json of any length, from bytes or text', async () => {
    const lengths = [0, 1, 127, 128, 16_383, 16_384, 2_097_152];
    const rows = lengths.flatMap((length) => [
      usageRow({ rawJson: 'é'.repeat(length) }),
      usageRow({ rawJson: Buffer.alloc(length, 'z') }),
    ]);
    expect(await roundTrip(rows)).toEqual(rows.map(expected));
  });
});
