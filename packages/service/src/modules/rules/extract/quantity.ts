import { type ChargeItemExtractor, SUM_NODES_MAX } from '@tollgate/contract';
import { add, type Decimal, equals, parseDecimal, sign, sub, ZERO } from '../../../kernel/decimal.js';
import { decimalFromJson, NumericText } from '../../../kernel/json/json.js';
import { nothing } from './dimension.js';
import { RatingFailure, type RatingNote } from './failure.js';
import type { Issues } from './issues.js';
import type { ReadPath } from './path.js';
import type { ReadNodes } from './sum-path.js';
import { addUp, type ReadPart, totalInRange } from './total.js';

/**
 * Returns the quantity as sent; undefined when the event has none, and so no such charge item.
 * @param note called for values that the rule did not expect, and that are not failures
 */
export type ReadQuantity = (
  rawJson: unknown,
  note: (note: RatingNote) => void,
) => Decimal | undefined | RatingFailure;

/** Grammar of a decimal, to distinguish a decimal out of range from text that is not a decimal. */
const DECIMAL_TEXT = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Compiles the sum of `path` and `sum_paths`, less `less_paths`. */
export function compileQuantity(config: ChargeItemExtractor, at: string, issues: Issues): ReadQuantity {
  const { path, less_paths: lessPaths = [], sum_paths: sumPaths = [], type } = config;
  if (path === undefined && sumPaths.length === 0) issues.add(`${at}.path`, 'expected a path, or sum_paths');
  if (lessPaths.length === 0) refuseWithoutParts(config, at, issues);
  const decimalOf = type === 'number' ? decimalOfNumber : decimalOfText;
  const compile = (source: string, place: string): ReadPart =>
    reader(issues.path(source, place) ?? nothing, decimalOf, place);
  const terms = [
    ...(path === undefined ? [] : [compile(path, `${at}.path`)]),
    ...issues
      .sumPaths(sumPaths, `${at}.sum_paths`)
      .map((read, index) => sumReader(read, decimalOf, `${at}.sum_paths[${index}]`)),
  ];
  const readTotal = terms.length === 1 ? (terms[0] as ReadPart) : sumOf(terms, `${at}.sum_paths`);
  const parts = lessPaths.map((source, index): Part => {
    const place = `${at}.less_paths[${index}]`;
    const message = `The quantity is negative once less_paths[${index}], ${source}, is subtracted.`;
    return {
      read: compile(source, place),
      tooMuch: new RatingFailure('quantity_negative', message, place),
      outOfRange: outOfRangeAt(place),
    };
  });
  const statedTotal = compileStatedTotal(config, at, compile);
  if (parts.length === 0) return readTotal;
  const excess = excessOf(config, at);
  return (rawJson, note) => {
    const total = readTotal(rawJson);
    if (total === undefined || total instanceof RatingFailure) return total;
    return remainder(total, parts, rawJson, statedTotal, excess, note);
  };
}

/**
 * Refuses settings about subtraction without `less_paths`, which would do nothing: a negative number in the event fails
 * it anyway.
 */
function refuseWithoutParts(
  { on_negative: mode = 'fail', stated_total: stated }: ChargeItemExtractor,
  at: string,
  issues: Issues,
): void {
  const message = 'needs less_paths: without them, nothing is subtracted';
  if (mode !== 'fail') issues.add(`${at}.on_negative`, message);
  if (stated !== undefined) issues.add(`${at}.stated_total`, message);
}

/** A quantity that the total includes and another charge item reports. */
interface Part {
  readonly read: ReadPart;
  readonly tooMuch: RatingFailure;
  readonly outOfRange: RatingFailure;
}

/** The quantity and the note if the parts exceed the total; undefined if the event then fails. */
interface Excess {
  readonly quantity: (total: Decimal) => Decimal;
  readonly note: RatingNote;
}

function excessOf({ on_negative: mode, metric, name }: ChargeItemExtractor, at: string): Excess | undefined {
  if (mode === undefined || mode === 'fail') return undefined;
  const who = name ?? metric;
  const exceeded = `The amounts to subtract exceed the quantity of ${who}`;
  const path = `${at}.less_paths`;
  return mode === 'clamp'
    ? {
        quantity: () => ZERO,
        note: { code: 'quantity_clamped', metric, path, message: `${exceeded}: it was set to 0.` },
      }
    : {
        quantity: (total) => total,
        note: { code: 'quantity_kept', metric, path, message: `${exceeded}: nothing was subtracted.` },
      };
}

function remainder(
  total: Decimal,
  parts: readonly Part[],
  rawJson: unknown,
  statedTotal: StatedTotal,
  excess: Excess | undefined,
  note: (note: RatingNote) => void,
): Decimal | RatingFailure {
  let rest = total;
  let tooMuch: RatingFailure | undefined;
  for (const part of parts) {
    const value = part.read(rawJson);
    if (value instanceof RatingFailure) return value;
    if (value === undefined) continue;
    const less = totalInRange(() => sub(rest, value));
    if (less === undefined) return part.outOfRange;
    if (sign(less) < 0) tooMuch ??= part.tooMuch;
    rest = less;
  }
  const beside = statedTotal.excludesParts(total, rest, rawJson);
  if (beside instanceof RatingFailure) return beside;
  if (beside) {
    if (!equals(total, rest)) note(statedTotal.note);
    return total;
  }
  if (tooMuch === undefined) return rest;
  if (excess === undefined) return tooMuch;
  note(excess.note);
  return excess.quantity(total);
}

interface StatedTotal {
  /**
   * Whether the stated total shows that the parts are counted in addition to `total`; `rest` is `total` less the parts.
   */
  readonly excludesParts: (total: Decimal, rest: Decimal, rawJson: unknown) => boolean | RatingFailure;
  readonly note: RatingNote;
}

function compileStatedTotal(
  { stated_total: stated, name, metric }: ChargeItemExtractor,
  at: string,
  compile: (source: string, place: string) => ReadPart,
): StatedTotal {
  const place = `${at}.stated_total`;
  const message = `By ${stated?.path}, ${name ?? metric} does not include the amounts to subtract: nothing was subtracted.`;
  const note: RatingNote = { code: 'quantity_parts_beside', metric, path: place, message };
  if (stated === undefined) return { excludesParts: () => false, note };
  const readStated = compile(stated.path, `${place}.path`);
  const others = (stated.other_paths ?? []).map((source, index) =>
    compile(source, `${place}.other_paths[${index}]`),
  );
  const readOthers = sumOf(others, `${place}.other_paths`);
  const outOfRange = outOfRangeAt(place);
  const excludesParts: StatedTotal['excludesParts'] = (total, rest, rawJson) => {
    const found = readStated(rawJson);
    if (found === undefined || found instanceof RatingFailure) return found ?? false;
    const other = readOthers(rawJson) ?? ZERO;
    if (other instanceof RatingFailure) return other;
    // total + others + parts, where the parts are total - rest.
    const sum = totalInRange(() => add(add(total, other), sub(total, rest)));
    return sum === undefined ? outOfRange : equals(sum, found);
  };
  return { excludesParts, note };
}

/** Returns the sum of the terms that the event has; undefined if it has none. */
function sumOf(terms: readonly ReadPart[], at: string): ReadPart {
  const outOfRange = outOfRangeAt(at);
  return (rawJson) => addUp(terms, (read) => read(rawJson), outOfRange);
}

function sumReader(read: ReadNodes, decimalOf: DecimalOf, at: string): ReadPart {
  const readValue = reader((value) => value, decimalOf, at);
  const outOfRange = outOfRangeAt(at);
  const message = `The path reads more than ${SUM_NODES_MAX} entries (SUM_NODES_MAX).`;
  const tooLong = new RatingFailure('quantity_list_too_long', message, at);
  return (rawJson) => {
    const nodes = read(rawJson);
    return nodes === undefined ? tooLong : addUp(nodes, readValue, outOfRange);
  };
}

/** The expected form of a quantity type, and its conversion to a decimal; undefined for values of another type. */
interface DecimalOf {
  readonly expected: string;
  readonly convert: (value: unknown, outOfRange: RatingFailure) => Decimal | RatingFailure | undefined;
}

const decimalOfNumber: DecimalOf = {
  expected: 'a JSON number',
  convert: (value, outOfRange) =>
    typeof value === 'number' || value instanceof NumericText
      ? (decimalFromJson(value) ?? outOfRange)
      : undefined,
};

const decimalOfText: DecimalOf = {
  expected: 'a decimal in a string, such as "1.5"',
  convert: (value, outOfRange) =>
    typeof value === 'string'
      ? (parseDecimal(value) ?? (DECIMAL_TEXT.test(value) ? outOfRange : undefined))
      : undefined,
};

function reader(read: ReadPath, { expected, convert }: DecimalOf, at: string): ReadPart {
  const negative = new RatingFailure('quantity_negative', 'The quantity is negative.', at);
  const mismatch = new RatingFailure('quantity_type_mismatch', `The quantity is not ${expected}.`, at);
  const outOfRange = outOfRangeAt(at);
  return (rawJson) => {
    const value = read(rawJson);
    if (value === undefined || value === null) return undefined;
    const quantity = convert(value, outOfRange) ?? mismatch;
    return quantity instanceof RatingFailure || sign(quantity) >= 0 ? quantity : negative;
  };
}

function outOfRangeAt(at: string): RatingFailure {
  return new RatingFailure('decimal_out_of_range', 'The quantity has too many digits.', at);
}
