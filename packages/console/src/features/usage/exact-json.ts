/**
 * Source text access of JSON.parse, and JSON.rawJSON, which the types of the language do not have yet.
 * See https://tc39.es/proposal-json-parse-with-source/.
 */
interface SourceText {
  readonly source?: string;
}
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, context?: SourceText) => unknown): unknown;
  /** Absent in older browsers. */
  readonly rawJSON?: (text: string) => unknown;
};

/** Parses JSON so that `JSON.stringify` writes its numbers with the same digits, if the browser supports it. */
export function parseExactly(text: string): unknown {
  return parse(text, (_, value, context) => {
    const source = context?.source;
    const isInexact = typeof value === 'number' && source !== undefined && String(value) !== source;
    return isInexact && rawJSON !== undefined ? rawJSON(source) : value;
  });
}
