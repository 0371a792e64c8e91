import type { LimitMeasure } from '@tollgate/contract';

export interface TestRule {
  readonly key: string;
  readonly measure?: LimitMeasure;
  readonly of?: string;
  readonly selector?: readonly ['all' | 'metric' | 'metric_prefix', string];
  /** Several metrics, in place of a selector. */
  readonly metrics?: readonly string[];
  readonly dimension?: readonly [string, string];
  /** A dimension, and a list of its values and prefixes. */
  readonly dimensionValues?: readonly [string, readonly string[]];
  readonly currency?: string;
  readonly period?: string;
  readonly limit: string;
  readonly notifyAt?: readonly number[];
  readonly webhookEvent?: string;
}

/** The default values of a rule in tests. */
export const RULE = {
  measure: 'amount',
  selector: ['all', ''],
  currency: 'USD',
  period: 'day',
  notifyAt: [],
} as const;

/** Columns that the tables of plan rules and direct limits share. */
export const RULE_COLUMNS = `limit_key, measure, of, selector_type, selector_value, selector_values, dimension_key, dimension_value, dimension_values, currency, period,
  limit_amount, action, webhook_event, notify_at, rule_no, created_at, updated_at`;
const RULE_COLUMN_COUNT = 18;

/** Placeholders for {@link ruleValues}. */
export const placeholders = (from: number) =>
  Array.from({ length: RULE_COLUMN_COUNT }, (_, index) => `$${from + index}`).join(', ');

/** Values in the order of {@link RULE_COLUMNS}. */
export function ruleValues(rule: TestRule, ruleNo: number): unknown[] {
  const {
    key,
    measure,
    of,
    selector,
    metrics,
    dimension,
    dimensionValues,
    currency,
    period,
    limit,
    notifyAt,
    webhookEvent,
  } = {
    ...RULE,
    ...rule,
  };
  return [
    ...[key, measure, of, ...(metrics === undefined ? selector : ['metrics', '']), metrics],
    ...[(dimension ?? dimensionValues)?.[0], dimension?.[1], dimensionValues?.[1]],
    ...[currency, period, limit, 'block'],
    ...[webhookEvent, notifyAt, ruleNo, 0, 0],
  ];
}
