import { JSON_DEPTH_MAX } from '@tollgate/contract';
import { type Decimal, decimalFromNumber, parseDecimal } from '../decimal.js';
import type { NumericText } from './parse.js';

export { JsonDepthError, NumericText, parseJson, parseLossless } from './parse.js';
export { type JsonScan, scanJson } from './scan.js';
export {
  ALL,
  isSelectable,
  type JsonSelection,
  JsonSpan,
  SelectedEntries,
  SelectedMembers,
  SPAN,
  selectJson,
} from './select.js';
export { skimJson } from './skim.js';
export { orderedText, stringifyLossless } from './write.js';
export { JSON_DEPTH_MAX };

/**
 * Returns the exact value of a parsed JSON number, or of a decimal string; undefined for other text and beyond the
 * bounds.
 */
export function decimalFromJson(value: number | NumericText | string): Decimal | undefined {
  if (typeof value === 'number') return decimalFromNumber(value);
  return parseDecimal(typeof value === 'string' ? value : value.text);
}
