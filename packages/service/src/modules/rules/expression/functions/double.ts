import type { Value } from '../value.js';
import { conversionFunction } from './conversion-function.js';

const DOUBLE_TEXT = /^-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?$/;

function toDouble(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' && DOUBLE_TEXT.test(value) ? Number(value) : undefined;
}

/** The nearest double. No decimal: what is exact does not become inexact unnoticed. */
export const double = conversionFunction('double', ['double', 'int', 'string'], [], toDouble);
