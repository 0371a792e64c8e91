import type { NumericText } from '../../kernel/json/json.js';
import type { SubjectValue } from './expression/index.js';

/** A decimal as it was sent; a number that no double holds is a NumericText. */
export type SentDecimal = number | string | NumericText;

/** A charge item that the client made itself: an entry of `x-billing.items`. */
export interface BilledItem {
  readonly metric: string;
  readonly quantity: SentDecimal;
  /** Without one, the unit of the extractor of the same metric. */
  readonly unit?: string | undefined;
}

/** The client's own price of a metric: that of `pricing_unit` units, or of one. */
export interface PricingHint {
  readonly unit_price: SentDecimal;
  readonly pricing_unit?: SentDecimal | undefined;
  readonly currency?: string | undefined;
}

/**
 * The discount on a metric: a percentage of each charge item, or an amount once. Exactly one of them is
 * present.
 */
export interface DiscountHint {
  readonly percent?: SentDecimal | undefined;
  readonly amount?: SentDecimal | undefined;
}

/** Hints by metric, as they were sent: to be asked for own properties only. */
export type HintsByMetric<Hint> = Readonly<Record<string, Hint>>;

/** An event's `x-billing`. It was checked when the event was accepted. */
export interface Billing {
  /** For its metric, such an item replaces what the extractors would find. */
  readonly items?: readonly BilledItem[];
  readonly pricing_hints?: HintsByMetric<PricingHint>;
  readonly discount_hints?: HintsByMetric<DiscountHint>;
}

/** Everything in an event that its rating depends on, without the rules and `raw_json`. */
export interface RatingFacts {
  /** Unix seconds; NaN where the event names no time. */
  readonly occurredAt: number;
  /** The pair sent with the event, which then is its subject: the extractor's paths are not read. */
  readonly subject?: SubjectValue | undefined;
  readonly billing?: Billing | undefined;
}

/** Everything in an event that its rating depends on, without the rules. */
export interface RatingInput extends RatingFacts {
  /**
   * The event's `raw_json`, parsed, at least as far as the rules read it; numbers that no double holds are
   * NumericText.
   */
  readonly rawJson: unknown;
}

/** Fields of an event as ingest takes them, parsed without losing a digit. */
export type EventFields = Readonly<Record<string, unknown>>;

/** The rating input of an event that was parsed whole. */
export function ratingInputOf(fields: EventFields): RatingInput {
  return ratingInput(ratingFactsOf(fields), fields.raw_json);
}

/**
 * With `ratingFactsOf` the one way from an event to its rating, so that it means the same in production, on
 * replay and in a test of the rules.
 * @param rawJson parsed, at least as far as the rules read it
 */
export function ratingInput({ occurredAt, subject, billing }: RatingFacts, rawJson: unknown): RatingInput {
  return { occurredAt, subject, billing, rawJson };
}

/**
 * The facts that rating reads from fields which were checked when the event was accepted; an unexpected value
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

/** The hint of a metric. `constructor` is a metric like any other. */
export function hintFor<Hint>(hints: HintsByMetric<Hint> | undefined, metric: string): Hint | undefined {
  return hints !== undefined && Object.hasOwn(hints, metric) ? hints[metric] : undefined;
}
