import type { DimensionFilter, UsageEventsQuery } from '@tollgate/contract';
import { type DimensionCondition, dimensionConditions } from './dimension-conditions.js';

/** Parsed filters of the event list and of exports; all must match. */
export interface EventFilter extends Omit<UsageEventsQuery, 'limit' | 'cursor' | 'count' | 'filters'> {
  readonly conditions: readonly DimensionCondition[];
}

/**
 * Returns a query with the conditions of its `filters` in their place.
 * @throws DomainError `invalid_request` naming the field
 */
export function withConditions<Query extends { readonly filters?: string }>(
  { filters, ...rest }: Query,
  readFilters: (text: string, path: string) => Readonly<Record<string, DimensionFilter>>,
): Omit<Query, 'filters'> & Pick<EventFilter, 'conditions'> {
  return {
    ...rest,
    conditions: filters === undefined ? [] : dimensionConditions(readFilters(filters, 'filters')),
  };
}
