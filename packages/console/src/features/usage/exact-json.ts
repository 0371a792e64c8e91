/**
 * What a reviver is told of a number, and how it is kept as it was written: both newer than the types of the
 * language.
 */
interface SourceText {
  readonly source?: string;
}
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, revive: (key: string, value: unknown, context?: SourceText) => unknown): unknown;
  /** Absent in older browsers. */
  readonly rawJSON?: (text: string) => unknown;
};

/** Parses JSON so that `JSON.stringify` writes its numbers as they were, digit by digit, where the browser can. */
export function parseExactly(text: string): unknown {
  return parse(text, (_, value, context) => {
    const source = context?.source;
    const isOther = typeof value === 'number' && source !== undefined && String(value) !== source;
    return isOther && rawJSON !== undefined ? rawJSON(source) : value;
  });
}
