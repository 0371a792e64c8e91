import type { LimitAction, LimitMeasure, LimitSelectorType } from '@tollgate/contract';

/** A plan rule or a direct limit as it is stored, without its id and owner. */
export interface RuleValues {
  readonly limit_key: string;
  readonly measure: LimitMeasure;
  /** The dimension whose values a `unique` rule counts; otherwise null. */
  readonly of: string | null;
  readonly selector_type: LimitSelectorType;
  readonly selector_value: string;
  readonly dimension_key: string | null;
  readonly dimension_value: string | null;
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
  const { limit_key, measure, of, selector_type, selector_value, dimension_key, dimension_value } = row;
  const { currency, period, limit_amount, action, webhook_event, notify_at } = row;
  return {
    limit_key,
    measure,
    of,
    selector_type,
    selector_value,
    dimension_key,
    dimension_value,
    currency,
    period,
    limit_amount,
    action,
    webhook_event,
    notify_at,
  };
}

export interface RuleRow extends RuleValues {
  readonly id: string;
  readonly rule_no: number;
  /** Unix seconds. */
  readonly created_at: number;
  readonly updated_at: number;
}
