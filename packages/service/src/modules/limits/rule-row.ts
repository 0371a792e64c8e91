import type { LimitAction, LimitMeasure, LimitSelectorType } from '@tollgate/contract';

/** A plan rule or a direct limit as it is stored, without what says where it stands. */
export interface RuleValues {
  readonly limit_key: string;
  readonly measure: LimitMeasure;
  readonly selector_type: LimitSelectorType;
  readonly selector_value: string;
  readonly dimension_key: string | null;
  readonly dimension_value: string | null;
  readonly currency: string;
  /** As it was written. */
  readonly period: string;
  /** Exact decimal. */
  readonly limit_amount: string;
  readonly action: LimitAction;
  readonly webhook_event: string | null;
  readonly notify_at: readonly number[];
}

export interface RuleRow extends RuleValues {
  readonly id: string;
  readonly rule_no: number;
  /** Unix seconds. */
  readonly created_at: number;
  readonly updated_at: number;
}
