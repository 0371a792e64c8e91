import type { LimitAction, LimitMeasure, LimitSelectorType } from '@tollgate/contract';
import type { LimitPeriod } from '../../../kernel/period.js';
import type { AmountTimeline } from './amounts.js';

/** A dimension, and its values that a rule selects: either exactly one, or a list of values and prefixes. */
export interface SelectedDimension {
  readonly key: string;
  readonly value: string | undefined;
  /** As the tenant wrote them. */
  readonly values: readonly string[] | undefined;
}

/** An active rule of a plan or a direct limit; one object for all subjects that it applies to. */
export interface CompiledRule {
  /** Number under which usage accumulates, the same in all revisions. */
  readonly ruleNo: number;
  /** `ulpr_…` of the newest published revision, or `racl_…`. */
  readonly id: string;
  /** The plan of the rule; null for a direct limit. */
  readonly planId: string | null;
  readonly limitKey: string;
  readonly measure: LimitMeasure;
  /** The dimension whose values a `unique` rule counts; undefined for other measures. */
  readonly of: string | undefined;
  readonly selectorType: LimitSelectorType;
  readonly selectorValue: string;
  /** The metrics of the selector `metrics`; otherwise empty. */
  readonly selectorValues: readonly string[];
  /** Only usage with such a value of the dimension counts. */
  readonly dimension: SelectedDimension | undefined;
  /** For an amount, the only currency that counts. Otherwise a label. */
  readonly currency: string;
  readonly period: LimitPeriod;
  /** The period as the tenant wrote it. */
  readonly periodText: string;
  readonly action: LimitAction;
  readonly webhookEvent: string | undefined;
  /** Percentages below 100 that send an alert, ascending; 100 always sends one. */
  readonly notifyAt: readonly number[];
  /**
   * The amounts over time. Use `CompiledRoute.limitFor` for the limit of a window: it knows since when the rule
   * applies.
   */
  readonly amounts: AmountTimeline;
}
