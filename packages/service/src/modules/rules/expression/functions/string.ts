import { Decimal, toText } from '../../../../kernel/decimal.js';
import type { Value } from '../value.js';
import { conversionFunction } from './conversion-function.js';

function toTextValue(value: Value): string | undefined {
  if (value instanceof Decimal) return toText(value);
  switch (typeof value) {
    case 'string':
      return value;
    case 'bigint':
    case 'boolean':
    case 'number':
      return String(value);
    default:
      return undefined;
  }
}

/** Decimals as the API writes them: `12.5`, no exponent, no trailing zeros. */
export const string = conversionFunction(
  'string',
  ['string', 'int', 'double', 'bool', 'Decimal'],
  ['string(Decimal): string'],
  toTextValue,
);
