import {
  type Decimal,
  decimalFromBigInt,
  decimalFromNumber,
  equals,
  neg,
  parseDecimal,
} from '../../../kernel/decimal.js';
import type { Node } from './syntax.js';

/**
 * The decimals that a double can stand for: the shortest digits that identify it and, past 2^53, also its exact value
 * if that has other digits (9223372036854775808.0). Empty for NaN and infinities.
 */
export function decimalsOf(double: number): readonly Decimal[] {
  const shortest = decimalFromNumber(double);
  if (shortest === undefined) return [];
  if (Number.isSafeInteger(double) || !Number.isInteger(double)) return [shortest];
  const exact = decimalFromBigInt(BigInt(double));
  return equals(shortest, exact) ? [shortest] : [shortest, exact];
}

/**
 * Returns the decimal of a double for computing; undefined where the double may stand for one of two decimals, or for
 * none.
 */
export function decimalOfDouble(double: number): Decimal | undefined {
  const [first, ...others] = decimalsOf(double);
  return others.length === 0 ? first : undefined;
}

/**
 * Returns the decimal that the digits of a number literal denote, with or without a minus; undefined for any other
 * node.
 */
export function writtenDecimal(node: Node, source: string): Decimal | undefined {
  if (node.op === '-_') {
    const negated = writtenDecimal(node.args as Node, source);
    return negated && neg(negated);
  }
  const text = literalText(node, source);
  return text === undefined ? undefined : parseDecimal(text);
}

/** Returns the text of a number literal, for a double as JSON writes it; undefined for any other node. */
export function literalText({ op, args, start, end }: Node, source: string): string | undefined {
  if (op !== 'value' || (typeof args !== 'number' && typeof args !== 'bigint')) return undefined;
  const text = source.slice(start, end);
  return text.startsWith('.') ? `0${text}` : text;
}
