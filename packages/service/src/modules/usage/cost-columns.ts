import {
  ArrayColumn,
  DictionaryColumn,
  type ListLengths,
  type NamedColumn,
  PlainColumn,
} from '../../platform/clickhouse-format/index.js';
import type { ItemCostRow } from './row.js';

/** The costs of the charge items of a block; one with an empty currency is none. */
export class CostColumns {
  readonly #amount = new PlainColumn('Decimal(38, 18)');
  readonly #currency = new DictionaryColumn();
  readonly #ruleSetId = new DictionaryColumn();
  readonly #ruleSetVersion = new PlainColumn('UInt32');
  readonly #ruleName = new DictionaryColumn();

  /** @param lengths of the lists of charge items */
  columns(lengths: ListLengths): readonly NamedColumn[] {
    return [
      ['item.cost_amount', new ArrayColumn(lengths, this.#amount)],
      ['item.cost_currency', new ArrayColumn(lengths, this.#currency)],
      ['item.cost_rule_set_id', new ArrayColumn(lengths, this.#ruleSetId)],
      ['item.cost_rule_set_version', new ArrayColumn(lengths, this.#ruleSetVersion)],
      ['item.cost_rule_name', new ArrayColumn(lengths, this.#ruleName)],
    ];
  }

  add(cost: ItemCostRow | null): void {
    this.#amount.decimal128(cost?.amount ?? 0n);
    this.#currency.string(cost?.currency ?? '');
    this.#ruleSetId.string(cost?.ruleSetId ?? '');
    this.#ruleSetVersion.uint32(cost?.ruleSetVersion ?? 0);
    this.#ruleName.string(cost?.ruleName ?? '');
  }
}
