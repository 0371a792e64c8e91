import { toText } from '../../../kernel/decimal.js';
import { invalidRequest } from '../../../kernel/errors.js';
import { decimalFromJson, NumericText } from '../../../kernel/json/json.js';

/**
 * Returns the dimensions of a body as rules compare them. All digits of a number that was sent count, and 1.0 equals 1.
 *
 * @param dimensions the validated field, parsed with all digits; undefined for none
 */
export function parsedDimensionTexts(dimensions: unknown): ReadonlyMap<string, string> {
  const values = Object.entries((dimensions ?? {}) as Readonly<Record<string, unknown>>);
  return new Map(values.map(([name, value]) => [name, dimensionText(name, value)]));
}

function dimensionText(name: string, value: unknown): string {
  if (typeof value !== 'number' && !(value instanceof NumericText)) return String(value);
  const decimal = decimalFromJson(value);
  if (decimal === undefined) throw invalidRequest(`dimensions.${name}`, 'expected a decimal of fewer digits');
  return toText(decimal);
}
