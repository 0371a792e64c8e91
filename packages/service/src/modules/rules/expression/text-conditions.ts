/** A dimension that must be this very text for an expression to be true. */
export interface TextCondition {
  readonly dimension: string;
  readonly text: string;
}

/**
 * The conditions `dimensions.x == "text"` that stand at the top level of a chain of `&&`, once for each dimension.
 * Where one of them does not hold, because the dimension is absent, another text or no text, the expression is false or
 * cannot be computed, whatever the rest of it says. What is left out here is only not known.
 *
 * Looks at the words of the source alone: compiling takes a hundred times as long, and most rules of a price list are never
 * tried.
 *
 * @param source of a match that compiles
 */
export function textConditions(source: string): readonly TextCondition[] {
  const words = wordsOf(source);
  const found = new Map<string, TextCondition>();
  const pending = words === undefined ? [] : [words];
  for (let chain = pending.pop(); chain !== undefined; chain = pending.pop()) {
    const parts = conjunctsOf(unwrapped(chain));
    if (parts.length > 1) {
      pending.push(...parts.toReversed());
      continue;
    }
    const condition = conditionOf(parts[0] ?? []);
    if (condition !== undefined && !found.has(condition.dimension)) {
      found.set(condition.dimension, condition);
    }
  }
  return [...found.values()];
}

type Words = readonly string[];

/** White space, a text without escapes, a name or number, an operator of two characters, any other character. */
const WORD = /\s+|"[^"\\\n\r]*"|'[^'\\\n\r]*'|\w+|&&|\|\||[=!<>]=|./gsu;
/** Escapes, comments and texts in triple quotes: such sources are few, and not worth reading. */
const UNREAD = /\\|\/\/|"""|'''/;

function wordsOf(source: string): Words | undefined {
  if (UNREAD.test(source)) return undefined;
  return source.match(WORD)?.filter((word) => word.trim() !== '');
}

const OPENING = new Set(['(', '[', '{']);
const CLOSING = new Set([')', ']', '}']);

/** The operands of a chain of `&&`; all in one where anything else binds less. */
function conjunctsOf(words: Words): Words[] {
  const parts: Words[] = [];
  let depth = 0;
  let start = 0;
  for (const [at, word] of words.entries()) {
    if (OPENING.has(word)) depth += 1;
    else if (CLOSING.has(word)) depth -= 1;
    else if (depth > 0) continue;
    else if (word === '||' || word === '?') return [words];
    else if (word === '&&') {
      parts.push(words.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, words.slice(start)];
}

/** Without the parentheses around all of it. */
function unwrapped(words: Words): Words {
  let inner = words;
  while (inner[0] === '(' && closingOf(inner) === inner.length - 1) inner = inner.slice(1, -1);
  return inner;
}

/** Where the parenthesis closes that the words begin with. */
function closingOf(words: Words): number {
  let depth = 0;
  return words.findIndex((word) => {
    depth += Number(word === '(') - Number(word === ')');
    return depth === 0;
  });
}

function conditionOf(words: Words): TextCondition | undefined {
  const at = words.indexOf('==');
  if (at < 0) return undefined;
  const [left, right] = [words.slice(0, at), words.slice(at + 1)];
  const dimension = dimensionOf(left) ?? dimensionOf(right);
  const text = textOf(left) ?? textOf(right);
  return dimension === undefined || text === undefined ? undefined : { dimension, text };
}

/** Of `dimensions.name` and `dimensions["name"]`. */
function dimensionOf(words: Words): string | undefined {
  const [container, access, key = '', closing] = words;
  if (container !== 'dimensions') return undefined;
  if (access === '.') return words.length === 3 ? key : undefined;
  return access === '[' && closing === ']' && words.length === 4 ? textOf([key]) : undefined;
}

function textOf([word = '', ...rest]: Words): string | undefined {
  return rest.length === 0 && /^["']/.test(word) ? word.slice(1, -1) : undefined;
}
