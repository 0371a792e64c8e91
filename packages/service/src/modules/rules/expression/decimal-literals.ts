import { parseDecimal } from '../../../kernel/decimal.js';
import { replaceWithCall } from './environment.js';
import { findFunction } from './functions/index.js';
import { literalText } from './number-literal.js';
import type { Node, OpenNode } from './syntax.js';

/**
 * Reads number literals as decimals, by the digits of their text, wherever only a decimal can be meant: as the result,
 * as an argument of type Decimal, and in tiers. Then `0.0000015` is `dec("0.0000015")`, and no double is involved in
 * the price.
 *
 * @param nodes of a tree that is not yet checked
 * @param result the root, where the expression must yield a decimal
 */
export function readDecimalLiterals(nodes: readonly Node[], result: Node | undefined, source: string): void {
  const pending: Node[] = result === undefined ? [] : [result];
  for (const node of nodes) {
    if (node.op !== 'call') continue;
    const [name, args] = node.args as [string, readonly Node[]];
    if (name === 'dec') quoteLiteral(args[0], source);
    else if (name.startsWith('tier_')) pending.push(...args.flatMap(elementsOf));
    else pending.push(...args.filter((_, index) => takesDecimal(name, index)));
  }
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const text = literalText(node, source);
    if (text === undefined) pending.push(...sameExpectation(node));
    else if (parseDecimal(text) !== undefined) replaceWithCall(node, 'dec', text);
  }
}

/** Turns a literal, or the literal after a minus, into the text that dec() reads. */
function quoteLiteral(argument: Node | undefined, source: string): void {
  if (argument === undefined) return;
  const text = literalText(argument, source);
  if (text !== undefined && parseDecimal(text) !== undefined) (argument as OpenNode).args = text;
  else if (argument.op === '-_' && literalText(argument.args as Node, source) !== undefined) {
    readDecimalLiterals([], argument, source);
  }
}

/** Elements of a list literal, nested lists included, such as a table of tiers; any other node is returned as it is. */
function elementsOf(node: Node): readonly Node[] {
  return node.op === 'list' ? (node.args as Node[]).flatMap(elementsOf) : [node];
}

/** Whether a function on decimals takes one at this index. Other functions, such as int(), take doubles too. */
function takesDecimal(name: string, index: number): boolean {
  if (!name.startsWith('dec_')) return false;
  const signatures = findFunction(name, false)?.signatures ?? [];
  const parameters = signatures.map((signature) => /\(([^)]*)\)/.exec(signature)?.[1]?.split(', ')[index]);
  return parameters.includes('Decimal');
}

/** Returns the parts that must be decimals when the whole must be one. */
function sameExpectation({ op, args }: Node): readonly Node[] {
  switch (op) {
    case '-_':
      return [args as Node];
    case '+':
    case '-':
    case '*':
      return args as Node[];
    case '?:':
      return (args as Node[]).slice(1);
    case '[]':
    case '.':
      return entriesOf((args as [Node, unknown])[0]);
    default:
      return [];
  }
}

/** Returns the values of a list or map literal. */
function entriesOf({ op, args }: Node): readonly Node[] {
  if (op === 'list') return args as Node[];
  return op === 'map' ? (args as [Node, Node][]).map(([, value]) => value) : [];
}
