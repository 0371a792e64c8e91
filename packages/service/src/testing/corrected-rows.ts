import { reversalRow, type UsageEventRow } from '../modules/usage/index.js';
import type { ClickHouse } from '../platform/clickhouse/index.js';
import { insertUsageRows } from './usage-rows.js';

/** When the correction of a test is applied, if it does not say: after the event. */
const CORRECTION_DELAY_MS = 60_000;

type NextRevision = Partial<Omit<UsageEventRow, 'rawEventId' | 'occurredAt' | 'corrections' | 'isReversal'>>;

/** The two rows that a correction writes. */
export interface CorrectedRows {
  readonly reversal: UsageEventRow;
  readonly next: UsageEventRow;
}

/** Returns the rows of a correction: `fields` are those in which the next revision differs from the former one. */
export function correctedRows(former: UsageEventRow, fields: NextRevision = {}): CorrectedRows {
  const correctionId = fields.correctionId ?? `corr_${former.corrections + 1}`;
  const processedAtMs = fields.processedAtMs ?? former.processedAtMs + CORRECTION_DELAY_MS;
  const itemTransactionIds = former.itemTransactionIds.map((id) => (id === '' ? '' : `led_${correctionId}`));
  return {
    reversal: reversalRow(former, { correctionId, processedAtMs, itemTransactionIds }),
    next: {
      ...former,
      itemTransactionIds: [],
      ...fields,
      correctionId,
      processedAtMs,
      corrections: former.corrections + 1,
    },
  };
}

/** Returns the rows of a correction that voids an event. */
export function voidedRows(
  former: UsageEventRow,
  fields: Pick<NextRevision, 'correctionId' | 'processedAtMs'> = {},
): CorrectedRows {
  return correctedRows(former, {
    ...fields,
    status: 'voided',
    posting: 'none',
    failureCode: '',
    failureMessage: '',
    failurePath: '',
    items: [],
    itemTransactionIds: [],
  });
}

/** Puts the rows of corrections into `usage_events`, or another table of its kind, with one insert. */
export async function insertCorrections(
  clickhouse: Pick<ClickHouse, 'insertRows'>,
  corrections: readonly CorrectedRows[],
  table?: string,
): Promise<void> {
  const rows = corrections.flatMap(({ reversal, next }) => [reversal, next]);
  await insertUsageRows(clickhouse, rows, table);
}
