import type { ExportFormat, PostedChargeItem, UsageEvent } from '@tollgate/contract';
import { csvLine, csvText } from '../../kernel/csv.js';

/** How events become text: a head, and then the lines of each event. */
export interface ExportText {
  readonly contentType: string;
  readonly head: string;
  linesOf(event: UsageEvent): Iterable<string>;
}

type Columns<T> = Readonly<Record<string, (row: T) => string>>;

const number = (value: number | null): string => (value === null ? '' : String(value));
/** Decimals from the service itself: plain numbers, which a spreadsheet may read as such. */
const decimal = (value: string | null): string => value ?? '';

const EVENT_COLUMNS: Columns<UsageEvent> = {
  raw_event_id: (event) => csvText(event.raw_event_id),
  occurred_at: (event) => number(event.occurred_at),
  received_at: (event) => number(event.received_at),
  processed_at: (event) => number(event.processed_at),
  status: (event) => csvText(event.status),
  source: (event) => csvText(event.source),
  external_event_id: (event) => csvText(event.external_event_id),
  idempotency_key: (event) => csvText(event.idempotency_key),
  subject_type: (event) => csvText(event.subject_type),
  subject_id: (event) => csvText(event.subject_id),
  account_id: (event) => csvText(event.account_id),
  posting: (event) => csvText(event.posting),
  extractor_rule_set_id: (event) => csvText(event.extractor_rule_set_id),
  extractor_version: (event) => number(event.extractor_version),
  budget_lease_id: (event) => csvText(event.budget_lease_id),
  lease_status: (event) => csvText(event.lease_status),
  dimensions: (event) => csvText(JSON.stringify(event.dimensions)),
  'failure.code': (event) => csvText(event.failure?.code ?? null),
  'failure.message': (event) => csvText(event.failure?.message ?? null),
  'failure.path': (event) => csvText(event.failure?.path ?? null),
};

const ITEM_COLUMNS: Columns<PostedChargeItem> = {
  'item.extractor_name': (item) => csvText(item.extractor_name),
  'item.metric': (item) => csvText(item.metric),
  'item.unit': (item) => csvText(item.unit),
  'item.quantity': (item) => decimal(item.quantity),
  'item.unit_price': (item) => decimal(item.unit_price),
  'item.amount': (item) => decimal(item.amount),
  'item.discount': (item) => decimal(item.discount),
  'item.currency': (item) => csvText(item.currency),
  'item.source': (item) => csvText(item.source),
  'item.pricing_source': (item) => csvText(item.pricing_source),
  'item.rule_set_id': (item) => csvText(item.rule_set_id),
  'item.rule_set_version': (item) => number(item.rule_set_version),
  'item.rule_name': (item) => csvText(item.rule_name),
  'item.ledger_transaction_id': (item) => csvText(item.ledger_transaction_id),
};

/** After all others, so that these keep their places from before there were notes, revisions and counters. */
const LAST_COLUMNS: Columns<UsageEvent> = {
  notes: (event) => csvText(event.notes.length === 0 ? null : JSON.stringify(event.notes)),
  revision: (event) => number(event.revision),
};
const LAST_ITEM_COLUMNS: Columns<PostedChargeItem> = {
  'item.cumulative': (item) => csvText(item.cumulative === null ? null : JSON.stringify(item.cumulative)),
  'item.cost.amount': ({ cost }) => decimal(cost?.amount ?? null),
  'item.cost.currency': ({ cost }) => csvText(cost?.currency ?? null),
  'item.cost.pricing_rule_set_id': ({ cost }) => csvText(cost?.pricing_rule_set_id ?? null),
  'item.cost.version': ({ cost }) => number(cost?.version ?? null),
  'item.cost.rule': ({ cost }) => csvText(cost?.rule ?? null),
};
/** Before the columns of the item: its index among the event's items, counted from 0. */
const ITEM_INDEX = 'item';
const EVENT_CELLS = Object.values(EVENT_COLUMNS);
const ITEM_CELLS = Object.values(ITEM_COLUMNS);
const LAST_CELLS = Object.values(LAST_COLUMNS);
const LAST_ITEM_CELLS = Object.values(LAST_ITEM_COLUMNS);
const NO_ITEM: readonly string[] = [ITEM_INDEX, ...ITEM_CELLS].map(() => '');
const NO_LAST: readonly string[] = LAST_ITEM_CELLS.map(() => '');

export const EXPORT_TEXTS: Readonly<Record<ExportFormat, ExportText>> = {
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    head: '',
    linesOf: (event) => [`${JSON.stringify(event)}\n`],
  },
  csv: {
    contentType: 'text/csv; charset=utf-8',
    head: csvLine([
      ...Object.keys(EVENT_COLUMNS),
      ITEM_INDEX,
      ...Object.keys(ITEM_COLUMNS),
      ...Object.keys(LAST_COLUMNS),
      ...Object.keys(LAST_ITEM_COLUMNS),
    ]),
    linesOf: csvLines,
  },
};

/** Yields one line per charge item, which repeats the event's cells. One by one, because together they can be large. */
function* csvLines(event: UsageEvent): Generator<string> {
  const cells = EVENT_CELLS.map((cell) => cell(event));
  const last = LAST_CELLS.map((cell) => cell(event));
  if (event.charge_items.length === 0) yield csvLine([...cells, ...NO_ITEM, ...last, ...NO_LAST]);
  for (const [index, item] of event.charge_items.entries()) {
    const ofItem = (columns: typeof ITEM_CELLS) => columns.map((cell) => cell(item));
    yield csvLine([...cells, String(index), ...ofItem(ITEM_CELLS), ...last, ...ofItem(LAST_ITEM_CELLS)]);
  }
}
