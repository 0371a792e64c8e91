import { type DimensionCondition, type ReservedColumn, reservedColumn } from './dimension-conditions.js';

/** SQL that reads the value of a dimension or of a reserved name from a row of events or of the rollup. */
export interface DimensionSql {
  readonly present: string;
  readonly value: string;
}

/** A comparison of an enum with a text that is none of its values would fail, so it is read as a text. */
const COLUMN_SQL = {
  subject_type: { present: "subject_type != ''", value: 'subject_type' },
  subject_id: { present: "subject_id != ''", value: 'subject_id' },
  account_id: { present: "account_id != ''", value: 'account_id' },
  pricing_source: { present: 'true', value: 'toString(pricing_source)' },
} as const satisfies Record<ReservedColumn, DimensionSql>;

/** Collects the parameters of a statement; equal names of dimensions share one. */
export class StatementParams {
  readonly values: Record<string, unknown> = {};
  readonly #names = new Map<string, string>();

  add(prefix: string, type: string, value: unknown): string {
    const name = `${prefix}${Object.keys(this.values).length}`;
    this.values[name] = value;
    return `{${name}:${type}}`;
  }

  dimension(name: string): DimensionSql {
    const column = reservedColumn(name);
    if (column !== undefined) return COLUMN_SQL[column];
    let parameter = this.#names.get(name);
    if (parameter === undefined) {
      parameter = this.add('dimension', 'String', name);
      this.#names.set(name, parameter);
    }
    return { present: `mapContains(dimensions, ${parameter})`, value: `dimensions[${parameter}]` };
  }
}

/**
 * Returns the condition on a row's dimension, or on `pricing_source` of a charge item; every name and value is a bound
 * parameter.
 */
export function filterSql(params: StatementParams, [name, filter]: DimensionCondition): string {
  const { present, value } = params.dimension(name);
  if (filter.exists !== undefined) return filter.exists ? present : `NOT (${present})`;
  const values = filter.in ?? filter.not_in ?? [];
  const isListed = `(${present} AND ${listedSql(params, value, values)})`;
  return filter.in === undefined ? `NOT ${isListed}` : isListed;
}

/** A comparison takes less time than a look-up in a set, and can use an index. */
function listedSql(params: StatementParams, value: string, values: readonly string[]): string {
  const [only] = values;
  if (values.length === 1) return `${value} = ${params.add('value', 'String', only)}`;
  return `${value} IN ${params.add('values', 'Array(String)', values)}`;
}
