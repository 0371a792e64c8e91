import type { UsageEventNote } from '@tollgate/contract';
import { EVENT_STEPS_MAX } from '../expression/index.js';

/** Why an event could not be rated. Stable: users filter and reprocess failed events by it. */
export type RatingFailureCode =
  | 'subject_missing'
  | 'subject_invalid'
  | 'dimension_missing'
  | 'dimension_type_mismatch'
  | 'dimension_too_long'
  | 'dimension_list_too_long'
  | 'quantity_type_mismatch'
  | 'quantity_negative'
  | 'quantity_list_too_long'
  | 'decimal_out_of_range'
  | 'pricing_failed'
  | 'counter_full'
  | 'unpriced';

/**
 * A reason why an event fails. A value and not an exception: one bad producer can make every event of a batch fail, and
 * each rule keeps its possible failures ready.
 */
export class RatingFailure {
  constructor(
    readonly code: RatingFailureCode,
    readonly message: string,
    /** The entry of the rule set, e.g. `charge_item_extractors[0].unit_price_expr`. */
    readonly path: string,
  ) {}
}

/** Something noteworthy about a rated event that is not a failure; its path is an entry of the extractor rule set. */
export type RatingNote = Readonly<UsageEventNote>;

/** @param path of the expression that would have taken more than the event has left */
export function stepsRanOut(path: string): RatingFailure {
  const message = `The event takes more than ${EVENT_STEPS_MAX} steps to price (EVENT_STEPS_MAX); they ran out at ${path}.`;
  return new RatingFailure('pricing_failed', message, path);
}
