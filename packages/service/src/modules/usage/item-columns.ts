import {
  ArrayColumn,
  DictionaryColumn,
  ListLengths,
  type NamedColumn,
  NullableColumn,
  PlainColumn,
} from '../../platform/clickhouse-format/index.js';
import { ITEM_SOURCES, PRICING_SOURCES, type UsageItemRow } from './row.js';

const DECIMAL = 'Decimal(38, 18)';

/** The charge items of a block: a list for each field, all of the same length. */
export class ItemColumns {
  readonly #lengths = new ListLengths();
  readonly #extractorName = new DictionaryColumn();
  readonly #metric = new DictionaryColumn();
  readonly #unit = new DictionaryColumn();
  readonly #currency = new DictionaryColumn();
  readonly #quantity = new PlainColumn(DECIMAL);
  readonly #unitPrice = new NullableColumn(new PlainColumn(DECIMAL));
  readonly #amount = new PlainColumn(DECIMAL);
  readonly #discount = new PlainColumn(DECIMAL);
  readonly #source = new PlainColumn(enumOf(ITEM_SOURCES));
  readonly #pricingSource = new PlainColumn(enumOf(PRICING_SOURCES));
  readonly #ruleSetId = new DictionaryColumn();
  readonly #ruleSetVersion = new PlainColumn('UInt32');
  readonly #ruleName = new DictionaryColumn();
  readonly #transactionId = new PlainColumn('String');

  readonly columns: readonly NamedColumn[] = [
    ['item.extractor_name', new ArrayColumn(this.#lengths, this.#extractorName)],
    ['item.metric', new ArrayColumn(this.#lengths, this.#metric)],
    ['item.unit', new ArrayColumn(this.#lengths, this.#unit)],
    ['item.currency', new ArrayColumn(this.#lengths, this.#currency)],
    ['item.quantity', new ArrayColumn(this.#lengths, this.#quantity)],
    ['item.unit_price', new ArrayColumn(this.#lengths, this.#unitPrice)],
    ['item.amount', new ArrayColumn(this.#lengths, this.#amount)],
    ['item.discount', new ArrayColumn(this.#lengths, this.#discount)],
    ['item.source', new ArrayColumn(this.#lengths, this.#source)],
    ['item.pricing_source', new ArrayColumn(this.#lengths, this.#pricingSource)],
    ['item.rule_set_id', new ArrayColumn(this.#lengths, this.#ruleSetId)],
    ['item.rule_set_version', new ArrayColumn(this.#lengths, this.#ruleSetVersion)],
    ['item.rule_name', new ArrayColumn(this.#lengths, this.#ruleName)],
    ['item.ledger_transaction_id', new ArrayColumn(this.#lengths, this.#transactionId)],
  ];

  /** Number of items of all rows. */
  get count(): number {
    return this.#lengths.total;
  }

  /** Adds the items of one row, and the ledger transaction of each; no transactions when nothing was posted. */
  add(items: readonly UsageItemRow[], transactionIds: readonly string[]): void {
    this.#lengths.add(items.length);
    for (const item of items) {
      this.#extractorName.string(item.extractorName);
      this.#metric.string(item.metric);
      this.#unit.string(item.unit);
      this.#currency.string(item.currency);
      this.#quantity.decimal128(item.quantity);
      this.#unitPrice.isNull(item.unitPrice === null);
      this.#unitPrice.values.decimal128(item.unitPrice ?? 0n);
      this.#amount.decimal128(item.amount);
      this.#discount.decimal128(item.discount);
      this.#source.uint8(ITEM_SOURCES[item.source]);
      this.#pricingSource.uint8(PRICING_SOURCES[item.pricingSource]);
      this.#ruleSetId.string(item.ruleSetId);
      this.#ruleSetVersion.uint32(item.ruleSetVersion);
      this.#ruleName.string(item.ruleName);
    }
    if (transactionIds.length > 0) for (const id of transactionIds) this.#transactionId.string(id);
    else for (let index = 0; index < items.length; index++) this.#transactionId.string('');
  }
}

/** `Enum8` with these numbers. */
export function enumOf(names: Readonly<Record<string, number>>): string {
  const entries = Object.entries(names).map(([name, number]) => `'${name}' = ${number}`);
  return `Enum8(${entries.join(', ')})`;
}
