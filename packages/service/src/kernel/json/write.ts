import { compareText } from '../compare-text.js';
import { JsonDepthError, NumericText } from './parse.js';

/**
 * Printed values are parsed JSON within an envelope of this service; this bound stops a cycle before the stack
 * overflows.
 */
const WRITE_DEPTH_MAX = 512;

/**
 * Prints as `JSON.stringify` without indentation, except that a {@link NumericText} is printed as a number.
 * @throws TypeError for a value without a JSON form (undefined, a function, a bigint), JsonDepthError for a cycle
 */
export function stringifyLossless(value: unknown): string {
  const text = holdsNumericText(value, 0) ? write(value, '', 0) : JSON.stringify(value);
  if (text === undefined) throw new TypeError('the value has no JSON form');
  return text;
}

/**
 * Prints parsed JSON with the fields of each object in one order, so that equal contents have equal texts; lists keep
 * their order.
 */
export function orderedText(value: unknown): string {
  return stringifyLossless(withOrderedFields(value));
}

function withOrderedFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOrderedFields);
  if (typeof value !== 'object' || value === null || value instanceof NumericText) return value;
  const fields = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(fields.map(([name, field]) => [name, withOrderedFields(field)]));
}

/**
 * Parsed JSON contains numeric texts in own properties only. Without any, the native printer is used, which is several
 * times as fast.
 */
function holdsNumericText(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof NumericText) return true;
  if (depth > WRITE_DEPTH_MAX) throw new JsonDepthError(WRITE_DEPTH_MAX);
  if (Array.isArray(value)) {
    for (const element of value) if (holdsNumericText(element, depth + 1)) return true;
    return false;
  }
  for (const key in value) {
    if (holdsNumericText((value as Record<string, unknown>)[key], depth + 1)) return true;
  }
  return false;
}

/** Text without anything to escape: no quote, backslash, control character or surrogate. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function write(value: unknown, key: string, depth: number): string | undefined {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof NumericText) return value.text;
  if (depth > WRITE_DEPTH_MAX) throw new JsonDepthError(WRITE_DEPTH_MAX);
  if (Array.isArray(value)) {
    let elements = '';
    for (let at = 0; at < value.length; at++) {
      elements += `${at === 0 ? '' : ','}${write(value[at], String(at), depth + 1) ?? 'null'}`;
    }
    return `[${elements}]`;
  }
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return write(value.toJSON(key), key, depth + 1);
  let members = '';
  for (const name of Object.keys(value)) {
    const text = write((value as Record<string, unknown>)[name], name, depth + 1);
    if (text !== undefined) members += `${members === '' ? '' : ','}${quote(name)}:${text}`;
  }
  return `{${members}}`;
}
