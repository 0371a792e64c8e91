/** A part of an expression that the form can write. */
export type PriceNode =
  | { readonly type: 'number'; readonly text: string }
  | { readonly type: 'null' }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'list'; readonly entries: readonly PriceNode[] }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly PriceNode[] }
  | { readonly type: 'sum' | 'product'; readonly terms: readonly PriceNode[] };

/** The reason why the form cannot show a price, to be read after "because". */
export class NotInForm extends Error {}

const foundPart = (part: string) => new NotInForm(`it uses ${part}`);
const INCOMPLETE = 'the expression is incomplete';

const TOKEN =
  /\s*(?:("(?:[^"\\]|\\.)*")|(\d+(?:\.\d+)?(?![\w.]))|([A-Za-z_][\w.]*)|([[\](),*+])|("|[^\s\w"]+|\w+))/y;

interface Token {
  readonly kind: 'string' | 'number' | 'name' | 'sign';
  readonly text: string;
}

/**
 * Parses numbers, names, lists, calls, sums and products. A number is also a text, as in tiers, and `dec(…)` of one.
 * @throws NotInForm naming the first part that is something else
 */
export function parsePrice(source: string): PriceNode {
  const tokens = tokensOf(source);
  let at = 0;
  const isNext = (sign: string) => tokens[at]?.kind === 'sign' && tokens[at]?.text === sign;
  const expect = (sign: string) => {
    const found = tokens[at];
    if (!isNext(sign)) throw found === undefined ? new NotInForm(INCOMPLETE) : foundPart(found.text);
    at += 1;
  };
  const listUntil = (close: string): PriceNode[] => {
    const entries: PriceNode[] = [];
    while (!isNext(close)) {
      if (entries.length > 0) expect(',');
      entries.push(sum());
    }
    expect(close);
    return entries;
  };
  const joined = (type: 'sum' | 'product', sign: string, next: () => PriceNode): PriceNode => {
    const terms = [next()];
    while (isNext(sign)) {
      at += 1;
      terms.push(next());
    }
    return terms.length === 1 ? (terms[0] as PriceNode) : { type, terms };
  };
  const sum = (): PriceNode => joined('sum', '+', product);
  const product = (): PriceNode => joined('product', '*', primary);
  const primary = (): PriceNode => {
    const token = tokens[at];
    if (token === undefined) throw new NotInForm(INCOMPLETE);
    at += 1;
    if (token.kind === 'number') return { type: 'number', text: token.text };
    if (token.kind === 'string') return { type: 'number', text: textIn(token) };
    if (token.kind === 'name') return named(token.text);
    if (token.text === '[') return { type: 'list', entries: listUntil(']') };
    if (token.text !== '(') throw foundPart(token.text);
    const inner = sum();
    expect(')');
    return inner;
  };
  const named = (name: string): PriceNode => {
    if (name === 'null') return { type: 'null' };
    if (!isNext('(')) return { type: 'name', name };
    at += 1;
    return simplified(name, listUntil(')'));
  };
  const node = sum();
  const rest = tokens[at];
  if (rest !== undefined) throw foundPart(rest.text);
  return node;
}

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (source.slice(TOKEN.lastIndex).trim() !== '') {
    const [, string, number, name, sign, other] = TOKEN.exec(source) ?? [];
    if (string !== undefined) tokens.push({ kind: 'string', text: string });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
    else throw other === undefined || other === '"' ? new NotInForm(INCOMPLETE) : foundPart(other);
  }
  return tokens;
}

function textIn({ text }: Token): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw foundPart(text);
  }
}

/** A call with its shorter form, if it has one: `dec("1")`, `dec_mul(a, b)`, `dec_add(a, b)`. */
function simplified(name: string, args: readonly PriceNode[]): PriceNode {
  const [first] = args;
  if (name === 'dec' && args.length === 1 && first?.type === 'number') return first;
  if (name === 'dec_mul' && args.length === 2) return { type: 'product', terms: args };
  if (name === 'dec_add' && args.length === 2) return { type: 'sum', terms: args };
  return { type: 'call', name, args };
}
