import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { StreamLanguage, type StringStream } from '@codemirror/language';

/** A function of the expression language. */
export interface CelFunction {
  readonly name: string;
  /** Its call with parameters: `dec_div(a, b, scale)`. */
  readonly usage: string;
  readonly meaning: string;
  /** Whether it is called as a method: `text.trim()`. */
  readonly isMethod?: true;
}

/**
 * All functions of expressions. A test checks that the expressions guide describes the same ones.
 */
export const CEL_FUNCTIONS: readonly CelFunction[] = [
  { name: 'dec', usage: 'dec(x)', meaning: 'the exact decimal that x denotes' },
  { name: 'dec_add', usage: 'dec_add(a, b)', meaning: 'the sum' },
  { name: 'dec_sub', usage: 'dec_sub(a, b)', meaning: 'the difference' },
  { name: 'dec_mul', usage: 'dec_mul(a, b)', meaning: 'the product' },
  { name: 'dec_div', usage: 'dec_div(a, b, scale)', meaning: 'the quotient, rounded to scale digits' },
  { name: 'dec_neg', usage: 'dec_neg(a)', meaning: 'the negated value' },
  { name: 'dec_abs', usage: 'dec_abs(a)', meaning: 'the absolute value' },
  { name: 'dec_min', usage: 'dec_min(a, b)', meaning: 'the smaller one: a cap' },
  { name: 'dec_max', usage: 'dec_max(a, b)', meaning: 'the larger one: a minimum charge' },
  { name: 'dec_round', usage: 'dec_round(a, scale)', meaning: 'rounded half-even' },
  { name: 'dec_floor', usage: 'dec_floor(a, scale)', meaning: 'rounded down' },
  { name: 'dec_ceil', usage: 'dec_ceil(a, scale)', meaning: 'rounded up' },
  { name: 'dec_cmp', usage: 'dec_cmp(a, b)', meaning: '-1, 0 or 1' },
  {
    name: 'tier_graduated',
    usage: 'tier_graduated(quantity, tiers)',
    meaning: 'each part at the price of its tier',
  },
  { name: 'tier_volume', usage: 'tier_volume(quantity, tiers)', meaning: 'the whole quantity at one tier' },
  { name: 'tier_package', usage: 'tier_package(quantity, size, price)', meaning: 'per started package' },
  {
    name: 'startsWith',
    usage: 'text.startsWith(part)',
    meaning: 'whether text starts with part',
    isMethod: true,
  },
  { name: 'endsWith', usage: 'text.endsWith(part)', meaning: 'whether text ends with part', isMethod: true },
  { name: 'contains', usage: 'text.contains(part)', meaning: 'whether text contains part', isMethod: true },
  { name: 'lowerAscii', usage: 'text.lowerAscii()', meaning: 'in lower case', isMethod: true },
  { name: 'upperAscii', usage: 'text.upperAscii()', meaning: 'in upper case', isMethod: true },
  { name: 'trim', usage: 'text.trim()', meaning: 'without leading and trailing space', isMethod: true },
  { name: 'int', usage: 'int(x)', meaning: 'the integer part' },
  { name: 'double', usage: 'double(x)', meaning: 'the nearest double' },
  { name: 'string', usage: 'string(x)', meaning: 'as text' },
  { name: 'dyn', usage: 'dyn(x)', meaning: 'type checked for each event' },
  { name: 'size', usage: 'size(x)', meaning: 'characters, elements or keys' },
];

const MACROS: readonly CelFunction[] = [
  { name: 'exists', usage: 'list.exists(x, test)', meaning: 'whether any element passes', isMethod: true },
  { name: 'all', usage: 'list.all(x, test)', meaning: 'whether all elements pass', isMethod: true },
  {
    name: 'exists_one',
    usage: 'list.exists_one(x, test)',
    meaning: 'whether exactly one element passes',
    isMethod: true,
  },
  { name: 'filter', usage: 'list.filter(x, test)', meaning: 'the elements that pass', isMethod: true },
  { name: 'map', usage: 'list.map(x, value)', meaning: 'a value per element', isMethod: true },
  { name: 'has', usage: 'has(dimensions.x)', meaning: 'whether the event has the dimension' },
];

const CALLABLE = new Set([...CEL_FUNCTIONS, ...MACROS].map(({ name }) => name));
const VARIABLES: Readonly<Record<string, string>> = {
  item: 'the charge item',
  dimensions: 'dimensions of the event',
  subject: 'subject of the event',
  occurred_at: 'Unix seconds',
  total: 'the total, in the price of a total',
};
const FIELDS: Readonly<Record<string, readonly (readonly [name: string, type: string])[]>> = {
  item: [
    ['quantity', 'Decimal'],
    ['unit_price', 'Decimal, in an amount'],
    ['metric', 'string'],
    ['unit', 'string'],
  ],
  subject: [
    ['type', 'string'],
    ['id', 'string'],
  ],
  total: [['quantity', 'Decimal']],
};

interface CelState {
  /** The closing quotes of an open multi-line string. */
  quotes: string | undefined;
}

/** A tokenizer for highlighting; it does not parse expressions. */
export const cel = StreamLanguage.define<CelState>({
  name: 'cel',
  startState: () => ({ quotes: undefined }),
  token: (stream, state) => tokenOf(stream, state),
  languageData: { closeBrackets: { brackets: ['(', '[', '{', '"', "'"] } },
});

function tokenOf(stream: StringStream, state: CelState): string | null {
  if (state.quotes !== undefined) return restOfText(stream, state, state.quotes);
  if (stream.eatSpace()) return null;
  if (stream.match(/^\/\/.*/)) return 'comment';
  const quotes = stream.match(/^[rR]?("""|'''|"|')/) as RegExpMatchArray | null;
  if (quotes !== null) return restOfText(stream, state, quotes[1] ?? '');
  if (stream.match(/^(0x[0-9a-fA-F]+|\d+(\.\d+)?([eE][+-]?\d+)?|\.\d+)[uU]?/)) return 'number';
  const name = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
  if (name !== null) return nameToken(name[0], stream);
  if (stream.match(/^(&&|\|\||[=!<>]=|[-+*/%<>!?:])/)) return 'operator';
  stream.next();
  return 'punctuation';
}

/** Reads to the end of a string. A string in single quotes cannot span lines, so an open one is invalid. */
function restOfText(stream: StringStream, state: CelState, quotes: string): string {
  state.quotes = quotes.length > 1 ? quotes : undefined;
  while (!stream.eol()) {
    if (stream.match(quotes)) {
      state.quotes = undefined;
      return 'string';
    }
    if (stream.next() === '\\') stream.next();
  }
  return state.quotes === undefined ? 'invalid' : 'string';
}

function nameToken(name: string, stream: StringStream): string {
  if (name === 'true' || name === 'false') return 'bool';
  if (name === 'null') return 'null';
  if (name === 'in') return 'keyword';
  if (CALLABLE.has(name) && stream.match(/^\s*\(/, false)) return 'variableName.function';
  const isField = stream.string.slice(0, stream.start).trimEnd().endsWith('.');
  return !isField && Object.hasOwn(VARIABLES, name) ? 'variableName.special' : 'variableName';
}

const option = ({ name, usage, meaning }: CelFunction): Completion => ({
  label: name,
  detail: `${usage.slice(usage.indexOf('('))} ${meaning}`,
  apply: `${name}(`,
  type: 'function',
});

const METHODS = [...CEL_FUNCTIONS, ...MACROS].filter(({ isMethod }) => isMethod === true).map(option);
const ALONE: readonly Completion[] = [
  ...Object.entries(VARIABLES).map(([label, detail]) => ({ label, detail, type: 'variable' })),
  ...[...CEL_FUNCTIONS, ...MACROS].filter(({ isMethod }) => isMethod !== true).map(option),
];
const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** Completions at the cursor: functions, variables, or the fields and methods of a value. */
export function celCompletions(
  context: CompletionContext,
  dimensionNames: readonly string[],
): CompletionResult | null {
  const access = context.matchBefore(/[A-Za-z_]?\w*\.\w*/);
  if (access !== null) {
    const [owner = '', begun = ''] = access.text.split('.');
    return {
      from: access.to - begun.length,
      options: optionsAfter(owner, dimensionNames),
      validFor: /^\w*$/,
    };
  }
  const word = context.matchBefore(/[A-Za-z_]\w*/);
  if (word === null && !context.explicit) return null;
  return { from: word?.from ?? context.pos, options: [...ALONE], validFor: /^\w*$/ };
}

function optionsAfter(owner: string, dimensionNames: readonly string[]): Completion[] {
  if (owner === 'dimensions') {
    return dimensionNames
      .filter((name) => PLAIN_NAME.test(name))
      .map((label) => ({ label, type: 'property', detail: 'dimension' }));
  }
  const fields = Object.hasOwn(FIELDS, owner) ? FIELDS[owner] : undefined;
  if (fields !== undefined) return fields.map(([label, detail]) => ({ label, detail, type: 'property' }));
  return /^\d/.test(owner) ? [] : METHODS;
}
