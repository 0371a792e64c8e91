import { JSON_DEPTH_MAX } from '@tollgate/contract';
import { type Decimal, decimalFromNumber, parseDecimal } from './decimal.js';
import { JsonDepthError, type NumericText, parseLossless } from './json-parse.js';
import { scanJson } from './json-scan.js';

export { JsonDepthError, NumericText, parseLossless } from './json-parse.js';
export { type JsonScan, scanJson } from './json-scan.js';
export { type SkimBounds, skimJson } from './json-skim.js';
export { type EventsScan, scanEvents } from './json-spans.js';
export { stringifyLossless } from './json-write.js';
export { JSON_DEPTH_MAX };

/**
 * Parses UTF-8 JSON and keeps every number exact, at the price of one scan where all of them fit doubles.
 * @throws SyntaxError, JsonDepthError
 */
export function parseJson(bytes: Buffer): unknown {
  const { depthMax, hasInexactNumber } = scanJson(bytes);
  if (depthMax > JSON_DEPTH_MAX) throw new JsonDepthError();
  return parseScanned(bytes, hasInexactNumber);
}

/**
 * The same of bytes whose depth was bounded when they were accepted.
 *
 * @param hasInexactNumber as a scan of them tells
 * @throws SyntaxError, JsonDepthError
 */
export function parseScanned(bytes: Buffer, hasInexactNumber: boolean): unknown {
  const text = bytes.toString('utf8');
  return hasInexactNumber ? parseLossless(text) : JSON.parse(text);
}

/** The exact value of a parsed JSON number, or of a decimal string; undefined for other text and past the bounds. */
export function decimalFromJson(value: number | NumericText | string): Decimal | undefined {
  if (typeof value === 'number') return decimalFromNumber(value);
  return parseDecimal(typeof value === 'string' ? value : value.text);
}
