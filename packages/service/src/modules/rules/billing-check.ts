import { type DiscountHint, METRIC_PATTERN, type PricingHint, type XBilling } from '@tollgate/contract';
import {
  COEFFICIENT_DIGITS_MAX,
  compare,
  type Decimal,
  decimalFromBigInt,
  equals,
  FRACTION_DIGITS_MAX,
  round,
  sign,
} from '../../kernel/decimal.js';
import { decimalFromJson } from '../../kernel/json/json.js';
import { isUsableText } from '../../kernel/usable-text.js';
import type { SentDecimal } from './rating-input.js';

const METRIC = new RegExp(METRIC_PATTERN);
/** Length of the longest metric name. */
const METRIC_CHARS_MAX = 128;
const HUNDRED = decimalFromBigInt(100n);

/** Called with each place that is wrong, and what was expected there. */
export type ReportFinding = (path: string, message: string) => void;

/**
 * Checks what the schema of an `x-billing` cannot express: decimals, bounds, metrics as keys.
 *
 * @param billing of a body that was parsed losslessly, so that 100.0000000000000001 is not 100
 */
export function checkBilling(billing: XBilling, path: string, report: ReportFinding): void {
  billing.items?.forEach((item, index) => {
    const at = `${path}.items[${index}]`;
    // A negative quantity fails the event, not the request: the event is stored as failed, and listed.
    checkDecimal(item.quantity, `${at}.quantity`, report);
    if (item.unit !== undefined && !isUsableText(item.unit)) {
      report(`${at}.unit`, 'text must not contain NUL or a lone surrogate');
    }
  });
  checkHints(billing.pricing_hints, `${path}.pricing_hints`, report, checkPricingHint);
  checkHints(billing.discount_hints, `${path}.discount_hints`, report, checkDiscountHint);
}

function checkHints<Hint>(
  hints: Readonly<Record<string, Hint>> | undefined,
  path: string,
  report: ReportFinding,
  check: (hint: Hint, path: string, report: ReportFinding) => void,
): void {
  if (hints === undefined) return;
  for (const [metric, hint] of Object.entries(hints)) {
    if (METRIC.test(metric)) {
      check(hint, `${path}.${metric}`, report);
    } else {
      report(path, `${quoted(metric)} is no metric: expected text that matches ${METRIC_PATTERN}`);
    }
  }
}

/** A key as the client wrote it, or the beginning of a long one. */
function quoted(key: string): string {
  const shown = key.length > METRIC_CHARS_MAX ? `${key.slice(0, METRIC_CHARS_MAX)}…` : key;
  return JSON.stringify(shown);
}

function checkPricingHint(hint: PricingHint, path: string, report: ReportFinding): void {
  const price = checkDecimal(hint.unit_price, `${path}.unit_price`, report);
  if (price !== undefined && sign(price) < 0) {
    report(`${path}.unit_price`, 'must not be negative');
  }
  if (hint.pricing_unit === undefined) return;
  const unit = checkDecimal(hint.pricing_unit, `${path}.pricing_unit`, report);
  if (unit !== undefined && sign(unit) <= 0) {
    report(`${path}.pricing_unit`, 'must be above 0');
  }
}

function checkDiscountHint(hint: DiscountHint, path: string, report: ReportFinding): void {
  if ((hint.percent === undefined) === (hint.amount === undefined)) {
    report(path, 'must have exactly one of percent and amount');
    return;
  }
  if (hint.percent !== undefined) {
    const percent = checkDiscount(hint.percent, `${path}.percent`, report);
    if (percent !== undefined && (sign(percent) < 0 || compare(percent, HUNDRED) > 0)) {
      report(`${path}.percent`, 'must lie between 0 and 100');
    }
  }
  if (hint.amount !== undefined) {
    const amount = checkDiscount(hint.amount, `${path}.amount`, report);
    if (amount !== undefined && sign(amount) < 0) {
      report(`${path}.amount`, 'must not be negative');
    }
  }
}

/**
 * Reads a decimal that can be subtracted from any amount: one with hundreds of fraction digits would fail the event.
 */
function checkDiscount(value: SentDecimal, path: string, report: ReportFinding): Decimal | undefined {
  const decimal = checkDecimal(value, path, report);
  if (decimal === undefined || equals(round(decimal, FRACTION_DIGITS_MAX), decimal)) return decimal;
  report(path, `must have at most ${FRACTION_DIGITS_MAX} fraction digits`);
  return undefined;
}

function checkDecimal(value: SentDecimal, path: string, report: ReportFinding): Decimal | undefined {
  const decimal = decimalFromJson(value);
  if (decimal === undefined)
    report(path, `expected a decimal such as 12.5, of at most ${COEFFICIENT_DIGITS_MAX} digits`);
  return decimal;
}
