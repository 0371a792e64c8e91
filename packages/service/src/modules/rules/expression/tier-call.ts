import { readDecimalLiterals } from './decimal-literals.js';
import { ENVIRONMENTS } from './environment.js';
import { parseExpression } from './parse.js';
import { type Node, Refusal } from './syntax.js';

/** A literal in an expression: numbers are texts with the digits that were written. */
export type Literal = string | null | readonly Literal[];

/** A call of a tier function on the total of a counter, with its other arguments. */
export interface TierCall {
  readonly kind: 'graduated' | 'volume' | 'package';
  readonly literals: readonly Literal[];
}

const KINDS: Readonly<Record<string, TierCall['kind']>> = {
  tier_graduated: 'graduated',
  tier_volume: 'volume',
  tier_package: 'package',
};

/**
 * Reads an expression that is one call of a tier function on `total.quantity`, with literals; undefined for any other,
 * and for text that is no expression.
 */
export function tierCallOf(source: string): TierCall | undefined {
  const root = parsed(source);
  if (root?.op !== 'call') return undefined;
  const [name, [quantity, ...rest]] = root.args as [string, Node[]];
  const kind = KINDS[name];
  if (kind === undefined || quantity === undefined || !isTotalQuantity(quantity)) return undefined;
  const literals = literalsOf(rest);
  return literals && { kind, literals };
}

function parsed(source: string): Node | undefined {
  try {
    const { root, nodes } = parseExpression(ENVIRONMENTS.total, source);
    readDecimalLiterals(nodes, root, source);
    return root;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function isTotalQuantity({ op, args }: Node): boolean {
  if (op !== '.') return false;
  const [receiver, field] = args as [Node, string];
  return field === 'quantity' && receiver.op === 'id' && receiver.args === 'total';
}

/** Returns undefined if one of the nodes is no literal. */
function literalsOf(nodes: readonly Node[]): Literal[] | undefined {
  const literals: Literal[] = [];
  for (const node of nodes) {
    const literal = literalOf(node);
    if (literal === undefined) return undefined;
    literals.push(literal);
  }
  return literals;
}

function literalOf({ op, args }: Node): Literal | undefined {
  if (op === 'list') return literalsOf(args as Node[]);
  if (op === 'call') {
    const [name, [text]] = args as [string, Node[]];
    return name === 'dec' && text !== undefined ? literalOf(text) : undefined;
  }
  return op === 'value' && (typeof args === 'string' || args === null) ? args : undefined;
}
