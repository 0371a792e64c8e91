import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { StreamLanguage, type StringStream } from '@codemirror/language';

/** A function of the language of expressions. */
export interface CelFunction {
  readonly name: string;
  /** What it takes, as one writes it: `dec_div(a, b, scale)`. */
  readonly usage: string;
  readonly meaning: string;
  /** It stands behind the text that it is asked of: `text.trim()`. */
  readonly isMethod?: true;
}

/**
 * Every function that an expression may call; the guide of expressions describes the same ones, which a test
 * sees to.
 */
export const CEL_FUNCTIONS: readonly CelFunction[] = [
  { name: 'dec', usage: 'dec(x)', meaning: 'the exact decimal that x denotes' },
  { name: 'dec_add', usage: 'dec_add(a, b)', meaning: 'the sum' },
  { name: 'dec_sub', usage: 'dec_sub(a, b)', meaning: 'the difference' },
  { name: 'dec_mul', usage: 'dec_mul(a, b)', meaning: 'the product' },
  { name: 'dec_div', usage: 'dec_div(a, b, scale)', meaning: 'the quotient, rounded to scale digits' },
  { name: 'dec_neg', usage: 'dec_neg(a)', meaning: 'the other sign' },
  { name: 'dec_abs', usage: 'dec_abs(a)', meaning: 'without its sign' },
  { name: 'dec_min', usage: 'dec_min(a, b)', meaning: 'the lesser: a cap' },
  { name: 'dec_max', usage: 'dec_max(a, b)', meaning: 'the greater: a minimum charge' },
  { name: 'dec_round', usage: 'dec_round(a, scale)', meaning: 'rounded half-even' },
  { name: 'dec_floor', usage: 'dec_floor(a, scale)', meaning: 'rounded down' },
  { name: 'dec_ceil', usage: 'dec_ceil(a, scale)', meaning: 'rounded up' },
  { name: 'dec_cmp', usage: 'dec_cmp(a, b)', meaning: '-1, 0 or 1' },
  { name: 'tier_graduated', usage: 'tier_graduated(quantity, tiers)', meaning: 'each part at its tier' },
  { name: 'tier_volume', usage: 'tier_volume(quantity, tiers)', meaning: 'all of it at one tier' },
  { name: 'tier_package', usage: 'tier_package(quantity, size, price)', meaning: 'by started packages' },
  { name: 'startsWith', usage: 'text.startsWith(part)', meaning: 'whether it begins so', isMethod: true },
  { name: 'endsWith', usage: 'text.endsWith(part)', meaning: 'whether it ends so', isMethod: true },
  { name: 'contains', usage: 'text.contains(part)', meaning: 'whether part is in it', isMethod: true },
  { name: 'lowerAscii', usage: 'text.lowerAscii()', meaning: 'in small letters', isMethod: true },
  { name: 'upperAscii', usage: 'text.upperAscii()', meaning: 'in capital letters', isMethod: true },
  { name: 'trim', usage: 'text.trim()', meaning: 'without space at its ends', isMethod: true },
  { name: 'int', usage: 'int(x)', meaning: 'without its fraction' },
  { name: 'double', usage: 'double(x)', meaning: 'the nearest double' },
  { name: 'string', usage: 'string(x)', meaning: 'as text' },
  { name: 'dyn', usage: 'dyn(x)', meaning: 'its type looked at for each event' },
  { name: 'size', usage: 'size(x)', meaning: 'characters, elements or keys' },
];

const MACROS: readonly CelFunction[] = [
  { name: 'exists', usage: 'list.exists(x, test)', meaning: 'whether one passes', isMethod: true },
  { name: 'all', usage: 'list.all(x, test)', meaning: 'whether all pass', isMethod: true },
  {
    name: 'exists_one',
    usage: 'list.exists_one(x, test)',
    meaning: 'whether just one passes',
    isMethod: true,
  },
  { name: 'filter', usage: 'list.filter(x, test)', meaning: 'those that pass', isMethod: true },
  { name: 'map', usage: 'list.map(x, value)', meaning: 'a value of each', isMethod: true },
  { name: 'has', usage: 'has(dimensions.x)', meaning: 'whether the event has it' },
];

const CALLABLE = new Set([...CEL_FUNCTIONS, ...MACROS].map(({ name }) => name));
const VARIABLES: Readonly<Record<string, string>> = {
  item: 'what is priced',
  dimensions: 'of the event, by name',
  subject: 'of the event',
  occurred_at: 'Unix seconds',
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
};

interface CelState {
  /** The quotes that end the text that goes on from line to line. */
  quotes: string | undefined;
}

/** Highlights an expression: no more of a parser than that needs. */
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

/** A text in one quote ends at the end of its line at the latest, and is then not closed. */
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

const BEHIND_A_VALUE = [...CEL_FUNCTIONS, ...MACROS].filter(({ isMethod }) => isMethod === true).map(option);
const ALONE: readonly Completion[] = [
  ...Object.entries(VARIABLES).map(([label, detail]) => ({ label, detail, type: 'variable' })),
  ...[...CEL_FUNCTIONS, ...MACROS].filter(({ isMethod }) => isMethod !== true).map(option),
];
const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** What can stand where one writes: a function, a variable, or what it has. */
export function celCompletions(
  context: CompletionContext,
  dimensionNames: readonly string[],
): CompletionResult | null {
  const behind = context.matchBefore(/[A-Za-z_]?\w*\.\w*/);
  if (behind !== null) {
    const [owner = '', begun = ''] = behind.text.split('.');
    return {
      from: behind.to - begun.length,
      options: optionsBehind(owner, dimensionNames),
      validFor: /^\w*$/,
    };
  }
  const word = context.matchBefore(/[A-Za-z_]\w*/);
  if (word === null && !context.explicit) return null;
  return { from: word?.from ?? context.pos, options: [...ALONE], validFor: /^\w*$/ };
}

function optionsBehind(owner: string, dimensionNames: readonly string[]): Completion[] {
  if (owner === 'dimensions') {
    return dimensionNames
      .filter((name) => PLAIN_NAME.test(name))
      .map((label) => ({ label, type: 'property', detail: 'dimension' }));
  }
  const fields = Object.hasOwn(FIELDS, owner) ? FIELDS[owner] : undefined;
  if (fields !== undefined) return fields.map(([label, detail]) => ({ label, detail, type: 'property' }));
  return /^\d/.test(owner) ? [] : BEHIND_A_VALUE;
}
