/** A value of a dimension that a rule lists, or a prefix of values. */
export interface ValuePattern {
  readonly isPrefix: boolean;
  readonly text: string;
}

/**
 * Reads a value as a tenant wrote it: one that ends in `*` is a prefix. `\*` stands for a star itself, also at the
 * end; any other star, and any other backslash, is itself.
 */
export function parseValuePattern(written: string): ValuePattern {
  const isPrefix = written.endsWith('*') && !written.endsWith('\\*');
  const text = isPrefix ? written.slice(0, -1) : written;
  return { isPrefix, text: text.replaceAll('\\*', '*') };
}

/** Reads a list of values: those that are meant exactly, and the prefixes. */
export function parseValuePatterns(written: readonly string[]): {
  readonly exact: string[];
  readonly prefixes: string[];
} {
  const patterns = written.map(parseValuePattern);
  const textsOf = (isPrefix: boolean) =>
    patterns.filter((pattern) => pattern.isPrefix === isPrefix).map(({ text }) => text);
  return { exact: textsOf(false), prefixes: textsOf(true) };
}
