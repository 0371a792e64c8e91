import { compareText } from '../../../kernel/compare-text.js';
import { compare, Decimal, decimalFromBigInt, equals } from '../../../kernel/decimal.js';
import { boundedText } from './code.js';
import { ELEMENT_STEPS } from './limits.js';
import { decimalsOf } from './number-literal.js';
import type { Site } from './site.js';
import type { Value } from './value.js';

/**
 * CEL's equality of values whose types are known only at run time: numbers of different types are equal when they
 * denote the same number; values of different types are unequal, which is not an error.
 */
export function equalValues(a: Value, b: Value, site: Site): boolean {
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length !== b.length) return false;
    return boundedText(a, site) === b;
  }
  if (a === b) return true;
  if (isNumeric(a) && isNumeric(b)) return orderNumbers(a, b) === 0;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b, site);
  if (a instanceof Map) return b instanceof Map && equalMaps(a, b, site);
  return false;
}

/**
 * @returns negative, zero or positive; undefined when nothing can be compared with NaN
 */
export function orderValues(a: Value, b: Value, site: Site): number | undefined {
  if (typeof a === 'string' && typeof b === 'string') {
    boundedText(a.length < b.length ? a : b, site);
    return compareText(a, b);
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (!isNumeric(a) || !isNumeric(b)) return site.fail('expected two numbers or two strings to compare');
  return orderNumbers(a, b);
}

function orderNumbers(a: Numeric, b: Numeric): number | undefined {
  if (a instanceof Decimal) return orderDecimal(a, b);
  if (b instanceof Decimal) {
    const order = orderDecimal(b, a);
    return order && -order;
  }
  // An int is compared with a double as its nearest double, as in CEL.
  const [left, right] = typeof a === typeof b ? [a, b] : [Number(a), Number(b)];
  if (left < right) return -1;
  return left > right ? 1 : left === right ? 0 : undefined;
}

/** A double equals a decimal by either of its readings: its shortest unique digits, or its exact value. */
function orderDecimal(a: Decimal, b: Numeric): number | undefined {
  if (typeof b !== 'number') return compare(a, b instanceof Decimal ? b : decimalFromBigInt(b));
  const readings = decimalsOf(b);
  const [first] = readings;
  if (first === undefined) return orderWithNonFinite(b);
  return readings.some((reading) => equals(a, reading)) ? 0 : compare(a, first);
}

type Numeric = Decimal | bigint | number;

function isNumeric(value: Value): value is Numeric {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Decimal;
}

/** Order of a finite number and an infinity; undefined for NaN. */
function orderWithNonFinite(other: number): number | undefined {
  return other > 0 ? -1 : other < 0 ? 1 : undefined;
}

function equalLists(a: readonly Value[], b: readonly Value[], site: Site): boolean {
  if (a.length !== b.length) return false;
  site.spend(a.length * ELEMENT_STEPS);
  return a.every((value, at) => equalValues(value, b[at] as Value, site));
}

function equalMaps(a: ReadonlyMap<Value, Value>, b: ReadonlyMap<Value, Value>, site: Site): boolean {
  if (a.size !== b.size) return false;
  site.spend(a.size * ELEMENT_STEPS);
  for (const [key, value] of a) {
    const other = b.get(key);
    if (other === undefined || !equalValues(value, other, site)) return false;
  }
  return true;
}
