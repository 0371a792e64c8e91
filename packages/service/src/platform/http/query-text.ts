import { parse } from 'node:querystring';
import { type DomainError, invalidRequest } from '../../kernel/errors.js';
import { childPath } from '../../kernel/field-path.js';
import { isUsableText } from '../../kernel/usable-text.js';

interface PropertySchema {
  readonly type?: string;
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/;
const NUMBER = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,18})?$/;

/** Returns the parameters of a query string, however many; a list for a name that is there more than once. */
export function parseQuery(text: string): Record<string, unknown> {
  return parse(text, '&', '=', { maxKeys: 0 });
}

/**
 * Returns the query string with the numbers and booleans of its schema; text in any other form stays text, so that the
 * schema refuses it. Deliberately narrower than Ajv's coercion, which reads `0x10`, `1e3` and ` 7 ` as numbers.
 */
export function readQueryText(
  schema: object,
  query: Record<string, unknown>,
): Record<string, unknown> | DomainError {
  const properties = (schema as { properties?: Record<string, PropertySchema> }).properties ?? {};
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query)) {
    const texts = Array.isArray(value) ? value : [value];
    if (!texts.every((text) => typeof text !== 'string' || isUsableText(text)) || !isUsableText(name)) {
      return invalidRequest(childPath('', name), 'text must not contain NUL');
    }
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    // Defined, not assigned: a parameter named __proto__ is an unknown field like any other.
    Object.defineProperty(read, name, {
      value: readText(type, value),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return read;
}

function readText(type: string | undefined, value: unknown): unknown {
  if (type === 'array') return Array.isArray(value) ? value : [value];
  if (typeof value !== 'string') return value;
  if (type === 'integer' && INTEGER.test(value)) return Number(value);
  if (type === 'number' && NUMBER.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
