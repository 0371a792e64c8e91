import { ANALYSIS_FILTERS_MAX, type DimensionFilter } from '@tollgate/contract';
import { invalidRequest } from '../../kernel/errors.js';

/** A dimension, `subject_type` or `subject_id`, and the condition that its value must meet. */
export type DimensionCondition = readonly [name: string, filter: DimensionFilter];

/** The subject's own columns; every other name is a dimension. */
const SUBJECT_COLUMNS = ['subject_type', 'subject_id'] as const;
type SubjectColumn = (typeof SUBJECT_COLUMNS)[number];

export function isSubjectColumn(name: string): name is SubjectColumn {
  return SUBJECT_COLUMNS.some((column) => column === name);
}

/**
 * Returns the conditions of `filters`, and checks what the schema cannot express.
 * @throws DomainError `invalid_request` naming the field
 */
export function dimensionConditions(
  filters: Readonly<Record<string, DimensionFilter>> = {},
): DimensionCondition[] {
  const conditions = Object.entries(filters);
  if (conditions.length > ANALYSIS_FILTERS_MAX) {
    throw invalidRequest('filters', `must have at most ${ANALYSIS_FILTERS_MAX} entries`);
  }
  for (const [name, filter] of conditions) {
    if (Object.keys(filter).length !== 1) {
      throw invalidRequest(
        `filters[${JSON.stringify(name)}]`,
        'must have exactly one of in, not_in and exists',
      );
    }
  }
  return conditions;
}

/** The values that conditions are tested against. A missing subject is an empty string. */
interface EventSide extends Readonly<Record<SubjectColumn, string>> {
  readonly dimensions: Readonly<Record<string, string>>;
}

/** Whether an event meets the condition, by the same rules as `filterSql`. */
export function meetsCondition(event: EventSide, [name, filter]: DimensionCondition): boolean {
  const value = valueIn(event, name);
  if (filter.exists !== undefined) return filter.exists === (value !== undefined);
  const isListed = value !== undefined && (filter.in ?? filter.not_in ?? []).includes(value);
  return filter.in === undefined ? !isListed : isListed;
}

function valueIn(event: EventSide, name: string): string | undefined {
  if (isSubjectColumn(name)) return event[name] === '' ? undefined : event[name];
  return Object.hasOwn(event.dimensions, name) ? event.dimensions[name] : undefined;
}
