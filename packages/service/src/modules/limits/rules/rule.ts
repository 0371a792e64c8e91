import type { LimitAction, LimitMeasure, LimitSelectorType } from '@tollgate/contract';
import type { Period } from '../../../kernel/period.js';
import type { AmountTimeline } from './amounts.js';

/** A rule in force, of a plan or a direct limit; one object for all subjects that it applies to. */
export interface CompiledRule {
  /** What accumulates, over all revisions. */
  readonly ruleNo: number;
  /** `ulpr_…` of the newest published revision, or `racl_…`. */
  readonly id: string;
  /** The plan of the rule; null for a direct limit. */
  readonly planId: string | null;
  readonly limitKey: string;
  readonly measure: LimitMeasure;
  readonly selectorType: LimitSelectorType;
  readonly selectorValue: string;
  /** Only what has this value of the dimension counts. */
  readonly dimension: { readonly key: string; readonly value: string } | undefined;
  /** Of an amount, the only currency that counts. Of a quantity it is a label. */
  readonly currency: string;
  readonly period: Period;
  /** The period as it was written. */
  readonly periodText: string;
  readonly action: LimitAction;
  readonly webhookEvent: string | undefined;
  /** Percentages below 100 that send an alert, ascending; 100 always does. */
  readonly notifyAt: readonly number[];
  /** Ask the route for the limit of a window: it knows since when the rule applies. */
  readonly amounts: AmountTimeline;
}
