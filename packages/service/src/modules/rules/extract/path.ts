import { JSONPathEnvironment, JSONPathError, JSONPathQuery, jsonpath, TokenKind } from 'json-p3';
import { NumericText } from '../../../kernel/json/json.js';

/** Reads one node of a parsed JSON text; undefined when there is none. */
export type ReadPath = (root: unknown) => unknown;

export type CompiledPath =
  | { readonly ok: true; readonly read: ReadPath; readonly segments: readonly PathSegment[] }
  | RefusedPath;

const environment = new JSONPathEnvironment();

/** A name after a dot, by RFC 9535 section 2.5.1.1: json-p3 lets `-` through as well. */
const SHORTHAND_NAME =
  /^[A-Z_a-z\u0080-\u{d7ff}\u{e000}-\u{10ffff}][0-9A-Z_a-z\u0080-\u{d7ff}\u{e000}-\u{10ffff}]*$/u;

/** A member name, or an index of an array that counts from its end when negative. */
export type PathSegment = string | number;

/**
 * Compiles a singular query of RFC 9535; the leading `$.` may be left out. Only own properties of objects and elements
 * of arrays are ever read.
 */
export function compilePath(source: string): CompiledPath {
  const parsed = parsePath(source);
  if (!parsed.ok) return parsed;
  const { query, prefixLength } = parsed;
  if (!query.singularQuery()) {
    const message = `expected a path to one node, of names and indexes only; ${source} may select more than one`;
    return refusedAt(source, offsetOfChoice(query) - prefixLength, message);
  }
  const segments: PathSegment[] = [];
  for (const segment of query.segments) {
    const singular = singularSegment(segment, source, prefixLength);
    if (typeof singular === 'object') return singular;
    if (singular !== undefined) segments.push(singular);
  }
  return { ok: true, read: readerOf(segments), segments };
}

export interface RefusedPath {
  readonly ok: false;
  readonly message: string;
}

type ParsedPath = { readonly ok: true; readonly query: JSONPathQuery; readonly prefixLength: number };

/**
 * Parses any query of RFC 9535; the leading `$.` may be left out, and `prefixLength` is the length of what was added.
 */
export function parsePath(source: string): ParsedPath | RefusedPath {
  const prefix = source.startsWith('$') ? '' : source.startsWith('[') ? '$' : '$.';
  try {
    return { ok: true, query: environment.compile(prefix + source), prefixLength: prefix.length };
  } catch (error) {
    return { ok: false, message: describe(error, source, prefix.length) };
  }
}

/** Returns the name or index of a segment; undefined for one that may select more than one node. */
export function singularSegment(
  segment: JSONPathQuery['segments'][number],
  source: string,
  prefixLength: number,
): PathSegment | RefusedPath | undefined {
  if (!new JSONPathQuery(environment, [segment]).singularQuery()) return undefined;
  const [selector] = segment.selectors;
  if (selector instanceof jsonpath.selectors.IndexSelector) return selector.index;
  if (!(selector instanceof jsonpath.selectors.NameSelector)) return undefined;
  const { name, token } = selector;
  if (token.kind !== TokenKind.NAME || SHORTHAND_NAME.test(name)) return name;
  return refusedAt(source, token.index - prefixLength, `expected the name ${name} in brackets: ['${name}']`);
}

/** @param offset into the text that the user wrote */
export function refusedAt(source: string, offset: number, message: string): RefusedPath {
  return { ok: false, message: `${position(source, offset)}: ${message}` };
}

/** Returns the offset of the first part of the path that may select more than one node. */
function offsetOfChoice({ environment, segments }: JSONPathQuery): number {
  const first = segments.find(
    (_, index) => !new JSONPathQuery(environment, segments.slice(0, index + 1)).singularQuery(),
  );
  return first?.token.index ?? 0;
}

/**
 * Rewrites a message of json-p3, which ends with the path and an offset into it, to begin with the place in the user's
 * text.
 */
function describe(error: unknown, source: string, prefixLength: number): string {
  if (!(error instanceof JSONPathError)) throw error;
  const reason = error.message.replace(/ \('.*':\d+\)$/s, '');
  const at = position(source, error.token.index - prefixLength);
  return `${at}: expected a JSON path such as usage.prompt_tokens or $.choices[0]['finish-reason']; ${reason}`;
}

/**
 * Returns the place of an offset in the same words as for expressions. White space in a path is only between its parts.
 */
function position(source: string, offset: number): string {
  const before = source.slice(0, Math.max(0, offset));
  const lines = before.split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

export function readerOf(segments: readonly PathSegment[]): ReadPath {
  const [first, second, ...rest] = segments.map(stepOf);
  if (first === undefined) return (root) => root;
  if (second === undefined) return first;
  if (rest.length === 0) return (root) => second(first(root));
  return (root) => {
    let node = second(first(root));
    for (const step of rest) node = step(node);
    return node;
  };
}

function stepOf(segment: PathSegment): ReadPath {
  if (typeof segment === 'number') return (node) => (Array.isArray(node) ? node.at(segment) : undefined);
  // Reading a property is several times faster than checking for it first; only inherited names need the check.
  return segment in Object.prototype
    ? (node) => (isRecord(node) && Object.hasOwn(node, segment) ? node[segment] : undefined)
    : (node) => (isRecord(node) ? node[segment] : undefined);
}

/** Whether a node is a JSON object: neither an array nor a NumericText. */
export function isRecord(node: unknown): node is Readonly<Record<string, unknown>> {
  return typeof node === 'object' && node !== null && !Array.isArray(node) && !(node instanceof NumericText);
}
