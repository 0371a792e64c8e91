import { toText } from '../../kernel/decimal.js';
import type { DimensionValue } from './expression/index.js';

/** Dimensions as they are recorded and shown: numbers as plain decimals, booleans as `true` and `false`. */
export function dimensionTexts(dimensions: ReadonlyMap<string, DimensionValue>): ReadonlyMap<string, string> {
  for (const value of dimensions.values()) {
    if (typeof value !== 'string') {
      return new Map(Array.from(dimensions, ([name, dimension]) => [name, dimensionText(dimension)]));
    }
  }
  return dimensions as ReadonlyMap<string, string>;
}

function dimensionText(value: DimensionValue): string {
  return typeof value === 'object' ? toText(value) : String(value);
}
