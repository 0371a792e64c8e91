/** Columns that `usageRow` fills; the others take their defaults. */
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

/** A row of usage_events in RowBinary, with a charge item of quantity 1 for each metric. `id` makes it unique. */
export function usageRow(id: number, occurredAtS: number, metrics: readonly string[]): Buffer {
  const rawEventId = Buffer.alloc(16);
  rawEventId.writeUInt32BE(occurredAtS);
  rawEventId.writeUInt32BE(id, 4);
  const time = Buffer.alloc(4);
  time.writeUInt32LE(occurredAtS);
  const quantity = Buffer.alloc(16);
  quantity.writeBigUInt64LE(STORED_ONE);
  return Buffer.concat([
    text('ten_1'),
    text('prj_1'),
    rawEventId,
    time,
    Buffer.from([1]),
    text('model'),
    text(`m${id % 3}`),
    Buffer.from([metrics.length]),
    ...metrics.map(text),
    Buffer.from([metrics.length]),
    ...metrics.map(() => quantity),
  ]);
}

/** A string shorter than 128 bytes: one byte holds its length. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
