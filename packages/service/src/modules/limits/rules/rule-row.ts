import type { LimitAction, LimitMeasure, LimitSelectorType } from '@tollgate/contract';

/** A plan rule or a direct limit as it is stored, without its id and owner. */
export interface RuleValues {
  readonly limit_key: string;
  readonly measure: LimitMeasure;
  /** The dimension whose values a `unique` rule counts; otherwise null. */
  readonly of: string | null;
  readonly selector_type: LimitSelectorType;
  readonly selector_value: string;
  /** The metrics of the selector `metrics`; otherwise null. */
  readonly selector_values: readonly string[] | null;
  readonly dimension_key: string | null;
  readonly dimension_value: string | null;
  /** Values and prefixes, as the tenant wrote them; null for a rule with one value, or none. */
  readonly dimension_values: readonly string[] | null;
  readonly currency: string;
  /** As the tenant wrote it. */
  readonly period: string;
  /** Exact decimal. */
  readonly limit_amount: string;
  readonly action: LimitAction;
  readonly webhook_event: string | null;
  readonly notify_at: readonly number[];
}

/** Returns the values of a rule or limit without the other columns of its row. */
export function ruleValues(row: RuleValues): RuleValues {
  const { limit_key, measure, of, selector_type, selector_value, selector_values } = row;
  const { dimension_key, dimension_value, dimension_values } = row;
  const { currency, period, limit_amount, action, webhook_event, notify_at } = row;
  return {
    limit_key,
    measure,
    of,
    selector_type,
    selector_value,
    selector_values,
    dimension_key,
    dimension_value,
    dimension_values,
    currency,
    period,
    limit_amount,
    action,
    webhook_event,
    notify_at,
  };
}

/** Returns a rule with lists of its own, as requests and writes take them. */
export function withOwnLists<Rule extends RuleValues>(rule: Rule) {
  const { selector_values, dimension_values, notify_at } = rule;
  return {
    ...rule,
    selector_values: selector_values && [...selector_values],
    dimension_values: dimension_values && [...dimension_values],
    notify_at: [...notify_at],
  };
}

export interface RuleRow extends RuleValues {
  readonly id: string;
  readonly rule_no: number;
  /** Unix seconds. */
  readonly created_at: number;
  readonly updated_at: number;
}
