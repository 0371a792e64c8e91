import { compare, Decimal, equals } from '../../../kernel/decimal.js';
import { boundedText, toDecimal } from './code.js';
import { ELEMENT_STEPS } from './limits.js';
import type { Site } from './site.js';
import type { Value } from './value.js';

/**
 * CEL's equality over values whose types are known only now: numbers of different types are equal when they denote the
 * same number, and values of different types are unequal, which is no error.
 */
export function equalValues(a: Value, b: Value, site: Site): boolean {
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length !== b.length) return false;
    return boundedText(a, site) === b;
  }
  if (a === b) return true;
  if (isNumeric(a) && isNumeric(b)) return equalNumbers(a, b);
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
    return a < b ? -1 : Number(a > b);
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (!isNumeric(a) || !isNumeric(b)) return site.fail('expected two numbers or two strings to compare');
  if (a instanceof Decimal || b instanceof Decimal) {
    const left = toDecimal(a);
    const right = toDecimal(b);
    if (left !== undefined && right !== undefined) return compare(left, right);
    return orderWithNonFinite(a, b);
  }
  // JavaScript compares bigint with number exactly.
  if (a < b) return -1;
  return a > b ? 1 : equalNumbers(a, b) ? 0 : undefined;
}

type Numeric = Decimal | bigint | number;

function isNumeric(value: Value): value is Numeric {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Decimal;
}

function equalNumbers(a: Numeric, b: Numeric): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: only the loose operator compares bigint with number.
  if (!(a instanceof Decimal) && !(b instanceof Decimal)) return a == b;
  const left = toDecimal(a);
  const right = toDecimal(b);
  return left !== undefined && right !== undefined && equals(left, right);
}

/** One side is a decimal, and finite; the other is an infinity or NaN. */
function orderWithNonFinite(a: Numeric, b: Numeric): number | undefined {
  const left = typeof a === 'number' ? a : 0;
  const right = typeof b === 'number' ? b : 0;
  return left < right ? -1 : left > right ? 1 : undefined;
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
