import {
  compare,
  type Decimal,
  decimalFromBigInt,
  divide,
  FRACTION_DIGITS_MAX,
  fromStored,
  mul,
  sub,
  toStored,
} from '../../kernel/decimal.js';
import { decimalFromJson } from '../../kernel/json/json.js';
import type { RatingFailure } from './extract/index.js';
import { outOfRange, type Price, priceInRange } from './price.js';
import { type HintsByMetric, hintFor, type SentDecimal, type SentDiscountHint } from './rating-input.js';

const HUNDRED = decimalFromBigInt(100n);
const ZERO = decimalFromBigInt(0n);

/** The unused part of an amount discount, once a charge item has set its currency. */
interface Remainder {
  readonly currency: string;
  readonly left: Decimal;
}

/** The discounts of one event: a discount amount is given once, however many charge items its metric has. */
export class Discounts {
  readonly #hints: HintsByMetric<SentDiscountHint>;
  readonly #remainders = new Map<string, Remainder>();

  constructor(hints: HintsByMetric<SentDiscountHint>) {
    this.#hints = hints;
  }

  /**
   * Returns the discount on a charge item of this price, × 10^18: from 0, without a discount, to its whole
   * amount.
   */
  take(metric: string, { amount, currency }: Price): bigint | RatingFailure {
    const hint = hintFor(this.#hints, metric);
    if (hint === undefined || amount <= 0n) return 0n;
    const charged = priceInRange(() =>
      hint.percent === undefined
        ? this.#lessAmount(metric, currency, fromStored(amount), hint.amount)
        : lessPercent(fromStored(amount), decimalOf(hint.percent)),
    );
    const stored = charged === undefined ? undefined : toStored(charged);
    return stored === undefined
      ? outOfRange('The discount', `x-billing.discount_hints.${metric}`)
      : amount - stored;
  }

  /**
   * Returns the amount after the discount. The part of the discount that one item leaves unused goes to the next item
   * in the same currency.
   */
  #lessAmount(metric: string, currency: string, amount: Decimal, discount: SentDecimal | undefined): Decimal {
    const known = this.#remainders.get(metric) ?? { currency, left: decimalOf(discount) };
    if (known.currency !== currency) return amount;
    const isWhole = compare(known.left, amount) >= 0;
    this.#remainders.set(metric, { currency, left: isWhole ? sub(known.left, amount) : ZERO });
    return isWhole ? ZERO : sub(amount, known.left);
  }
}

function lessPercent(amount: Decimal, percent: Decimal): Decimal {
  return divide(mul(amount, sub(HUNDRED, percent)), HUNDRED, FRACTION_DIGITS_MAX);
}

function decimalOf(sent: SentDecimal | undefined): Decimal {
  const decimal = sent === undefined ? undefined : decimalFromJson(sent);
  if (decimal === undefined) throw new Error('the discount hint was accepted, although it is not a decimal');
  return decimal;
}
