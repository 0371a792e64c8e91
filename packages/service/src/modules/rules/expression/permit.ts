import { equals } from '../../../kernel/decimal.js';
import { INT_MAX, INT_MIN, LITERAL_DEPTH_MAX, TREE_DEPTH_MAX } from './limits.js';
import { decimalsOf, writtenDecimal } from './number-literal.js';
import { isComprehension, type Node, operands, refuse } from './syntax.js';

interface Visit {
  readonly node: Node;
  readonly depth: number;
  readonly literalDepth: number;
  readonly insideMacro: boolean;
  readonly negated: boolean;
}

const PERMITTED: ReadonlySet<string> = new Set([
  ...['value', 'id', '.', '[]', 'call', 'rcall', 'list', 'map', '?:', '||', '&&', '!_', '-_'],
  ...['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%'],
]);

/**
 * Refuses expressions that are expensive to check or evaluate, or not supported, before the type check recurses into
 * them. Walks with a list of its own, because the tree may be deeper than the stack.
 * @throws Refusal
 */
export function assertPermitted(root: Node, source: string): void {
  const pending: Visit[] = [{ node: root, depth: 1, literalDepth: 0, insideMacro: false, negated: false }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { node } = visit;
    if (!PERMITTED.has(node.op)) refuse(node, `${node.op} is not supported`);
    if (visit.depth > TREE_DEPTH_MAX) refuse(node, `nested more than ${TREE_DEPTH_MAX} deep`);
    const isLiteral = node.op === 'list' || node.op === 'map';
    const literalDepth = visit.literalDepth + (isLiteral ? 1 : 0);
    if (literalDepth > LITERAL_DEPTH_MAX) {
      refuse(node, `lists and maps are nested more than ${LITERAL_DEPTH_MAX} deep`);
    }
    if (node.op === 'value') assertNumber(node, source, visit.negated);
    if (node.op === 'map') assertTextKeys(node);
    assertCall(node, visit.insideMacro);
    const insideMacro = visit.insideMacro || isComprehension(node);
    const negated = node.op === '-_';
    for (const operand of operands(node)) {
      pending.push({ node: operand, depth: visit.depth + 1, literalDepth, insideMacro, negated });
    }
  }
}

function assertNumber(node: Node, source: string, negated: boolean): void {
  const value = node.args;
  if (typeof value === 'bigint') {
    if (value > (negated ? -INT_MIN : INT_MAX)) refuse(node, 'expected an int of 64 bits; write dec("…")');
  } else if (typeof value === 'number') {
    const written = writtenDecimal(node, source);
    if (written === undefined || !decimalsOf(value).some((held) => equals(written, held))) {
      refuse(node, 'a double cannot hold these digits; write dec("…")');
    }
  } else if (typeof value === 'object' && value !== null) {
    refuse(node, 'bytes and unsigned ints are not supported; expected a string, int or double');
  }
}

/** The type checker keeps every type that it has ever seen: with only text as keys there are few of them. */
function assertTextKeys(node: Node): void {
  const seen = new Set<string>();
  for (const [key] of node.args as [Node, Node][]) {
    if (key.op !== 'value' || typeof key.args !== 'string') refuse(key, 'expected a string literal as key');
    if (seen.has(key.args)) refuse(key, 'this key is already in the map');
    seen.add(key.args);
  }
}

function assertCall(node: Node, insideMacro: boolean): void {
  if (isComprehension(node)) {
    if (insideMacro) refuse(node, 'a macro inside another one is not supported');
    const [, , [variable]] = node.args as [string, Node, Node[]];
    if (variable?.op !== 'id') refuse(node, 'expected a variable name as first argument');
  } else if (node.op === 'rcall') {
    const [name] = node.args as [string];
    if (name === 'matches') refuse(node, 'matches() is not supported; use startsWith, endsWith or contains');
    if (node.meta.macro !== undefined) refuse(node, `${name}() is not supported`);
  }
}
