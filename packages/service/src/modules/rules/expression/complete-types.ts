import { replaceWithCall, type TypeChecker } from './environment.js';
import { isComprehension, isHas, type Node, type OpenNode } from './syntax.js';

/**
 * Changes a tree so that cel-js can check parts of CEL that it does not support: the elements of empty lists, and has()
 * of a map literal.
 *
 * @param nodes all of the tree, each before its operands
 */
export function completeTypes(nodes: readonly Node[]): void {
  for (const node of nodes.toReversed()) {
    if (node.op === '+') dropEmptyList(node);
    else if (isComprehension(node)) forgetEmptyList(node);
    else if (isHas(node)) checkWhatHasFields(node);
  }
}

function isEmptyList({ op, args }: Node): boolean {
  return op === 'list' && (args as readonly Node[]).length === 0;
}

/** `[] + [1]` is `[1]`. */
function dropEmptyList(sum: Node): void {
  const [left, right] = sum.args as [Node, Node];
  if (left.op !== 'list' || right.op !== 'list') return;
  if (isEmptyList(left)) become(sum, right);
  else if (isEmptyList(right)) become(sum, left);
}

function become(node: OpenNode, other: Node): void {
  Object.assign(node, { op: other.op, args: other.args, pos: other.pos, start: other.start, end: other.end });
  Object.assign(node.meta, other.meta);
}

/** `[].all(x, x > 1)` is checked as `dyn([]).all(x, x > 1)`: the type of elements that do not exist is unknown. */
function forgetEmptyList(macro: Node): void {
  const [, range] = macro.args as [string, Node];
  if (isEmptyList(range)) replaceWithCall(range, 'dyn', []);
}

interface HasMacro {
  typeCheck: (checker: TypeChecker, macro: unknown, context: unknown) => unknown;
}

/** cel-js refuses an operand that is not a name; it is then checked like any other operand. */
function checkWhatHasFields(has: Node): void {
  const [, [field]] = has.args as [string, readonly [Node]];
  if (field.op !== '.') return;
  const [container] = field.args as [Node];
  let root = container;
  while (root.op === '.') root = (root.args as [Node])[0];
  if (root.op === 'id') return;
  (has.meta.macro as HasMacro).typeCheck = (checker, _, context) => {
    checker.check(container, context);
    return checker.getType('bool');
  };
}
