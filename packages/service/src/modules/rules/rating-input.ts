import type { NumericText } from '../../kernel/json/json.js';
import type { SubjectValue } from './expression/index.js';

/** A decimal as it was sent; a number that a double cannot hold is a NumericText. */
export type SentDecimal = number | string | NumericText;

/** A charge item from the client: an entry of `x-billing.items`. */
export interface BilledItem {
  readonly metric: string;
  readonly quantity: SentDecimal;
  /** Without one, the unit of the extractor with the same metric. */
  readonly unit?: string | undefined;
}

/** The client's own price of a metric: for `pricing_unit` units, or for one. */
export interface SentPricingHint {
  readonly unit_price: SentDecimal;
  readonly pricing_unit?: SentDecimal | undefined;
  readonly currency?: string | undefined;
}

/**
 * The discount on a metric: a percentage of each charge item, or an amount once. Exactly one of them is
 * present.
 */
export interface SentDiscountHint {
  readonly percent?: SentDecimal | undefined;
  readonly amount?: SentDecimal | undefined;
}

/** Hints by metric, as they were sent. Read own properties only. */
export type HintsByMetric<Hint> = Readonly<Record<string, Hint>>;

/** An event's `x-billing`. It was checked when the event was accepted. */
export interface Billing {
  /** An item replaces everything that the extractors would find for its metric. */
  readonly items?: readonly BilledItem[];
  readonly pricing_hints?: HintsByMetric<SentPricingHint>;
  readonly discount_hints?: HintsByMetric<SentDiscountHint>;
}

/** Everything in an event that its rating depends on, without the rules and `raw_json`. */
export interface RatingFacts {
  /** Unix seconds; NaN where the event has no time. */
  readonly occurredAt: number;
  /** The subject that was sent with the event; the extractor's paths are not read then. */
  readonly subject?: SubjectValue | undefined;
  readonly billing?: Billing | undefined;
}

/** Everything in an event that its rating depends on, without the rules. */
export interface RatingInput extends RatingFacts {
  /**
   * The event's `raw_json`, parsed at least where the rules read it; numbers that a double cannot hold are NumericText.
   */
  readonly rawJson: unknown;
}

/** Fields of an event as ingest takes them, parsed without losing a digit. */
export type EventFields = Readonly<Record<string, unknown>>;

/** Returns the rating input of an event that was parsed completely. */
export function ratingInputOf(fields: EventFields): RatingInput {
  return ratingInput(ratingFactsOf(fields), fields.raw_json);
}

/**
 * Returns the rating input of an event. Together with `ratingFactsOf` this is the only way from an event to its rating,
 * so that rating is the same in production, on replay and in a test of the rules.
 * @param rawJson parsed at least where the rules read it
 */
export function ratingInput({ occurredAt, subject, billing }: RatingFacts, rawJson: unknown): RatingInput {
  return { occurredAt, subject, billing, rawJson };
}

/**
 * Returns the facts that rating reads from fields which were checked when the event was accepted; an unexpected value
 * counts as absent.
 */
export function ratingFactsOf(fields: EventFields): RatingFacts {
  const { occurred_at: time, subject_type: type, subject_id: id, 'x-billing': billing } = fields;
  return {
    occurredAt: typeof time === 'number' ? time : Number.NaN,
    subject: isText(type) && isText(id) ? { type, id } : undefined,
    billing: isObject(billing) ? (billing as Billing) : undefined,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the hint of a metric. `constructor` is a metric like any other. */
export function hintFor<Hint>(hints: HintsByMetric<Hint> | undefined, metric: string): Hint | undefined {
  return hints !== undefined && Object.hasOwn(hints, metric) ? hints[metric] : undefined;
}
