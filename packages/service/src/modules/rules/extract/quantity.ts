import type { ChargeItemExtractor } from '@tollgate/contract';
import { type Decimal, DecimalRangeError, parseDecimal, sign, sub } from '../../../kernel/decimal.js';
import { decimalFromJson, NumericText } from '../../../kernel/json.js';
import { nothing } from './dimension.js';
import { RatingFailure } from './failure.js';
import type { Issues } from './issues.js';
import type { ReadPath } from './path.js';

/** The quantity as sent; undefined when the event has none, and so no such charge item. */
export type ReadQuantity = (rawJson: unknown) => Decimal | undefined | RatingFailure;

/** Grammar of a decimal, to tell one that is out of range from text that is none. */
const DECIMAL_TEXT = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** What `path` reads, less what `less_paths` read. */
export function compileQuantity(
  { path, less_paths: lessPaths = [], type }: ChargeItemExtractor,
  at: string,
  issues: Issues,
): ReadQuantity {
  const readerOf = type === 'number' ? numberReader : textReader;
  const compile = (source: string, place: string) => readerOf(issues.path(source, place) ?? nothing, place);
  const readTotal = compile(path, `${at}.path`);
  const parts = lessPaths.map((source, index): Part => {
    const place = `${at}.less_paths[${index}]`;
    const message = `The quantity is negative once less_paths[${index}], ${source}, is subtracted.`;
    return {
      read: compile(source, place),
      tooMuch: new RatingFailure('quantity_negative', message, place),
      outOfRange: outOfRangeAt(place),
    };
  });
  return parts.length === 0 ? readTotal : (rawJson) => remainder(readTotal(rawJson), parts, rawJson);
}

/** A quantity that the total includes and another charge item reports. */
interface Part {
  readonly read: ReadQuantity;
  readonly tooMuch: RatingFailure;
  readonly outOfRange: RatingFailure;
}

function remainder(
  total: ReturnType<ReadQuantity>,
  parts: readonly Part[],
  rawJson: unknown,
): ReturnType<ReadQuantity> {
  if (total === undefined || total instanceof RatingFailure) return total;
  let rest = total;
  for (const { read, tooMuch, outOfRange } of parts) {
    const part = read(rawJson);
    if (part instanceof RatingFailure) return part;
    if (part === undefined) continue;
    const less = difference(rest, part);
    if (less === undefined) return outOfRange;
    if (sign(less) < 0) return tooMuch;
    rest = less;
  }
  return rest;
}

/** Undefined where the digits of both together are more than a decimal holds. */
function difference(a: Decimal, b: Decimal): Decimal | undefined {
  try {
    return sub(a, b);
  } catch (error) {
    if (error instanceof DecimalRangeError) return undefined;
    throw error;
  }
}

function numberReader(read: ReadPath, at: string): ReadQuantity {
  const { mismatch, outOfRange, checked } = quantityFailures(at, 'a JSON number');
  return (rawJson) => {
    const value = read(rawJson);
    if (typeof value === 'number' || value instanceof NumericText) {
      return checked(decimalFromJson(value) ?? outOfRange);
    }
    return value === undefined || value === null ? undefined : mismatch;
  };
}

function textReader(read: ReadPath, at: string): ReadQuantity {
  const { mismatch, outOfRange, checked } = quantityFailures(at, 'a decimal in a string, such as "1.5"');
  return (rawJson) => {
    const value = read(rawJson);
    if (typeof value === 'string') {
      return checked(parseDecimal(value) ?? (DECIMAL_TEXT.test(value) ? outOfRange : mismatch));
    }
    return value === undefined || value === null ? undefined : mismatch;
  };
}

function quantityFailures(at: string, expected: string) {
  const negative = new RatingFailure('quantity_negative', 'The quantity is negative.', at);
  return {
    mismatch: new RatingFailure('quantity_type_mismatch', `The quantity is not ${expected}.`, at),
    outOfRange: outOfRangeAt(at),
    checked: (quantity: Decimal | RatingFailure) =>
      quantity instanceof RatingFailure || sign(quantity) >= 0 ? quantity : negative,
  };
}

function outOfRangeAt(at: string): RatingFailure {
  return new RatingFailure('decimal_out_of_range', 'The quantity has too many digits.', at);
}
