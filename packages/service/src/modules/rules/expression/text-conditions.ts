/** A dimension that must be exactly this text for an expression to be true. */
export interface TextCondition {
  readonly dimension: string;
  readonly text: string;
}

/**
 * Returns the conditions `dimensions.x == "text"` at the top level of a chain of `&&`, once for each dimension. Where
 * one of them does not hold, because the dimension is absent, another text or not a text, the expression is false or
 * cannot be computed, whatever the rest of it. A condition that is missing here is merely unknown.
 *
 * Reads the words of the source only: compiling takes ten times as long or more, and most rules of a price list are
 * never evaluated.
 *
 * @param source of a match that compiles
 */
export function textConditions(source: string): readonly TextCondition[] {
  const words = wordsOf(source);
  const closings = closingsOf(words);
  const found = new Map<string, TextCondition>();
  const pending: Span[] = [{ from: 0, to: words.length }];
  for (let span = pending.pop(); span !== undefined; span = pending.pop()) {
    const parts = conjunctsOf(words, closings, unwrapped(words, closings, span));
    if (parts.length > 1) {
      pending.push(...parts.toReversed());
      continue;
    }
    const condition = parts[0] && conditionOf(words.slice(parts[0].from, parts[0].to));
    if (condition !== undefined && !found.has(condition.dimension)) {
      found.set(condition.dimension, condition);
    }
  }
  return [...found.values()];
}

/**
 * Whether an expression may read this dimension. Also true where the source does not show it: with escapes, or all of
 * `dimensions` at once.
 *
 * @param source of a match that compiles
 */
export function readsDimension(source: string, dimension: string): boolean {
  if (UNREAD.test(source)) return source.includes('dimensions');
  const words = wordsOf(source);
  return words.some((word, at) => {
    if (word !== 'dimensions' || words[at - 1] === '.') return false;
    const end = words[at + 1] === '[' ? at + 4 : at + 3;
    const read = dimensionOf(words.slice(at, end));
    return read === undefined || read === dimension;
  });
}

/** `dimensions.name` and `dimensions["name"]`. */
const DIMENSION_PATTERN = /\bdimensions\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\])/g;

/** Returns the names of dimensions that a source mentions, once each. */
export function dimensionsIn(source: string): string[] {
  const names = Array.from(
    source.matchAll(DIMENSION_PATTERN),
    ([, field, double, single]) => field ?? double ?? single,
  );
  return [...new Set(names.flatMap((name) => name ?? []))];
}

type Words = readonly string[];

/** Consecutive words, without the last one. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** A text without escapes, a name or number, an operator of two characters, any other character but white space. */
const WORD = /"[^"\\\n\r]*"|'[^'\\\n\r]*'|\w+|&&|\|\||[=!<>]=|\S/gu;
/** Escapes, comments and texts in triple quotes: sources with them are rare, and are not analysed. */
const UNREAD = /\\|\/\/|"""|'''/;

function wordsOf(source: string): Words {
  return UNREAD.test(source) ? [] : (source.match(WORD) ?? []);
}

/** Returns the closing bracket of each opening one. */
function closingsOf(words: Words): ReadonlyMap<number, number> {
  const closings = new Map<number, number>();
  const open: number[] = [];
  for (const [at, word] of words.entries()) {
    if (word === '(' || word === '[' || word === '{') open.push(at);
    else if (word === ')' || word === ']' || word === '}') closings.set(open.pop() ?? at, at);
  }
  return closings;
}

/** Removes parentheses around the whole. */
function unwrapped(words: Words, closings: ReadonlyMap<number, number>, { from, to }: Span): Span {
  let depth = 0;
  while (words[from + depth] === '(' && closings.get(from + depth) === to - depth - 1) depth += 1;
  return { from: from + depth, to: to - depth };
}

/** Returns the operands of a chain of `&&`; all in one where another operator binds less. */
function conjunctsOf(words: Words, closings: ReadonlyMap<number, number>, { from, to }: Span): Span[] {
  const parts: Span[] = [];
  let start = from;
  for (let at = from; at < to; at += 1) {
    const word = words[at];
    if (word === '||' || word === '?') return [{ from, to }];
    if (word === '&&') {
      parts.push({ from: start, to: at });
      start = at + 1;
    }
    // Brackets and their content are one operand.
    at = closings.get(at) ?? at;
  }
  return [...parts, { from: start, to }];
}

function conditionOf(words: Words): TextCondition | undefined {
  const at = words.indexOf('==');
  if (at < 0) return undefined;
  const [left, right] = [words.slice(0, at), words.slice(at + 1)];
  const dimension = dimensionOf(left) ?? dimensionOf(right);
  const text = textOf(left) ?? textOf(right);
  return dimension === undefined || text === undefined ? undefined : { dimension, text };
}

/** Returns the name in `dimensions.name` or `dimensions["name"]`. */
function dimensionOf(words: Words): string | undefined {
  const [container, access, key = '', closing] = words;
  if (container !== 'dimensions') return undefined;
  if (access === '.') return words.length === 3 ? key : undefined;
  return access === '[' && closing === ']' && words.length === 4 ? textOf([key]) : undefined;
}

function textOf([word = '', ...rest]: Words): string | undefined {
  return rest.length === 0 && /^["']/.test(word) ? word.slice(1, -1) : undefined;
}
