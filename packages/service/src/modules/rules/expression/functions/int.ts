import { Decimal } from '../../../../kernel/decimal.js';
import { INT_MAX, INT_MIN } from '../limits.js';
import type { Value } from '../value.js';
import { conversionFunction } from './conversion-function.js';

const INT_TEXT = /^-?[0-9]{1,19}$/;

function toInt(value: Value): bigint | undefined {
  const int = unboundedInt(value);
  return int !== undefined && int >= INT_MIN && int <= INT_MAX ? int : undefined;
}

function unboundedInt(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return isBelowBounds(value) ? BigInt(Math.trunc(value)) : undefined;
  if (typeof value === 'string') return INT_TEXT.test(value) ? BigInt(value) : undefined;
  return value instanceof Decimal ? value.coefficient / 10n ** BigInt(value.scale) : undefined;
}

/** CEL converts no double that is as large as either bound, for a neighbour of it may be meant. */
function isBelowBounds(double: number): boolean {
  return Math.abs(double) < -Number(INT_MIN);
}

/** Cuts the fraction off, as CEL does for doubles. */
export const int = conversionFunction(
  'int',
  ['int', 'double', 'string', 'Decimal'],
  ['int(Decimal): int'],
  toInt,
);
