import {
  ArrayColumn,
  ByteWriter,
  DictionaryColumn,
  ListLengths,
  MapColumn,
  type NamedColumn,
  nativeBlock,
  PlainColumn,
} from '../clickhouse-format/index.js';

/** Columns that `usageRows` fills; the others take their defaults. */
export const USAGE_ROW_COLUMNS = [
  'tenant_id',
  'project_id',
  'raw_event_id',
  'occurred_at',
  'dimensions',
  'item.metric',
  'item.quantity',
] as const;

const STORED_ONE = 10n ** 18n;

export interface TestUsageRow {
  /** Makes the event unique. */
  readonly id: number;
  /** Unix seconds. */
  readonly occurredAt: number;
  /** One charge item of quantity 1 for each metric. */
  readonly metrics: readonly string[];
}

/** Rows of usage_events, as one block. */
export function usageRows(rows: readonly TestUsageRow[]): Buffer {
  const [tenantId, projectId] = [new DictionaryColumn(), new DictionaryColumn()];
  const rawEventId = new PlainColumn('FixedString(16)');
  const occurredAt = new PlainColumn("DateTime('UTC')");
  const dimensionCounts = new ListLengths();
  const [names, values] = [new DictionaryColumn(), new PlainColumn('String')];
  const itemCounts = new ListLengths();
  const [metric, quantity] = [new DictionaryColumn(), new PlainColumn('Decimal(38, 18)')];
  for (const row of rows) {
    tenantId.string('ten_1');
    projectId.string('prj_1');
    rawEventId.fixedString(idOf(row));
    occurredAt.uint32(row.occurredAt);
    dimensionCounts.add(1);
    names.string('model');
    values.string(`m${row.id % 3}`);
    itemCounts.add(row.metrics.length);
    for (const name of row.metrics) {
      metric.string(name);
      quantity.decimal128(STORED_ONE);
    }
  }
  const columns = [
    tenantId,
    projectId,
    rawEventId,
    occurredAt,
    new MapColumn(dimensionCounts, names, values),
    new ArrayColumn(itemCounts, metric),
    new ArrayColumn(itemCounts, quantity),
  ];
  const named = USAGE_ROW_COLUMNS.map((name, index) => [name, columns[index]] as NamedColumn);
  return Buffer.concat(nativeBlock(rows.length, named));
}

function idOf({ id, occurredAt }: TestUsageRow): Buffer {
  const writer = new ByteWriter();
  writer.uint32(occurredAt);
  writer.uint32(id);
  writer.int64(0);
  return writer.bytes();
}
