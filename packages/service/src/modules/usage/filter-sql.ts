import { type DimensionCondition, isSubjectColumn } from './dimension-conditions.js';

/** SQL that reads the value of a dimension from a row of events or of the rollup. */
export interface DimensionSql {
  readonly present: string;
  readonly value: string;
}

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
    if (isSubjectColumn(name)) return { present: `${name} != ''`, value: name };
    let parameter = this.#names.get(name);
    if (parameter === undefined) {
      parameter = this.add('dimension', 'String', name);
      this.#names.set(name, parameter);
    }
    return { present: `mapContains(dimensions, ${parameter})`, value: `dimensions[${parameter}]` };
  }
}

/** Returns the condition on a row's dimension; every name and value is a bound parameter. */
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
