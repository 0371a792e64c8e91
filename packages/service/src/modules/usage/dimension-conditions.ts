import {
  ANALYSIS_FILTERS_MAX,
  type DimensionFilter,
  RESERVED_NAMES,
  RESERVED_PREFIX,
  type ReservedName,
} from '@tollgate/contract';
import { invalidRequest } from '../../kernel/errors.js';
import { childPath } from '../../kernel/field-path.js';

/** A dimension or a reserved name, and the condition that its value must meet. */
export type DimensionCondition = readonly [name: string, filter: DimensionFilter];

/** The columns that reserved names mean; an empty one has no value. Every other name is a dimension. */
const COLUMNS = {
  subject_type: 'subject_type',
  subject_id: 'subject_id',
  '@account_id': 'account_id',
  '@pricing_source': 'pricing_source',
  '@subject_type': 'subject_type',
  '@subject_id': 'subject_id',
} as const satisfies Record<ReservedName | 'subject_type' | 'subject_id', string>;

/** A column that a reserved name means. Charge items have `pricing_source`, events have all others. */
export type ReservedColumn = (typeof COLUMNS)[keyof typeof COLUMNS];

/** Returns the column that a name means; undefined for a dimension. */
export function reservedColumn(name: string): ReservedColumn | undefined {
  return Object.hasOwn(COLUMNS, name) ? COLUMNS[name as keyof typeof COLUMNS] : undefined;
}

/** Refuses names that look reserved and are not. @throws DomainError `invalid_request` */
export function checkName(name: string, path: string): void {
  if (!name.startsWith(RESERVED_PREFIX) || reservedColumn(name) !== undefined) return;
  throw invalidRequest(path, `must be a dimension or one of ${RESERVED_NAMES.join(', ')}`);
}

/**
 * Returns the conditions of `filters`, and checks what the schema cannot express.
 * @param field the path of `filters` in the request, for errors
 * @throws DomainError `invalid_request` naming the field
 */
export function dimensionConditions(
  filters: Readonly<Record<string, DimensionFilter>> = {},
  field = 'filters',
): DimensionCondition[] {
  const conditions = Object.entries(filters);
  if (conditions.length > ANALYSIS_FILTERS_MAX) {
    throw invalidRequest(field, `must have at most ${ANALYSIS_FILTERS_MAX} entries`);
  }
  for (const [name, filter] of conditions) {
    const path = childPath(field, name);
    checkName(name, path);
    if (Object.keys(filter).length !== 1) {
      throw invalidRequest(path, 'must have exactly one of in, not_in and exists');
    }
  }
  return conditions;
}

/** Whether a condition is one on a charge item; all of these must hold for the same charge item. */
export function isOfItem([name]: DimensionCondition): boolean {
  return reservedColumn(name) === 'pricing_source';
}

/** The values of an event or of a charge item. A missing text is empty. */
interface Values extends Readonly<Partial<Record<ReservedColumn, string | undefined>>> {
  readonly dimensions?: Readonly<Record<string, string>>;
}

/** Whether an event, or a charge item for a condition on one, meets the condition, by the same rules as `filterSql`. */
export function meetsCondition(values: Values, [name, filter]: DimensionCondition): boolean {
  const value = valueIn(values, name);
  if (filter.exists !== undefined) return filter.exists === (value !== undefined);
  const isListed = value !== undefined && (filter.in ?? filter.not_in ?? []).includes(value);
  return filter.in === undefined ? !isListed : isListed;
}

function valueIn({ dimensions = {}, ...columns }: Values, name: string): string | undefined {
  const column = reservedColumn(name);
  if (column !== undefined) return columns[column] || undefined;
  return Object.hasOwn(dimensions, name) ? dimensions[name] : undefined;
}
