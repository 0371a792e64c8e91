import { asBool, type Code, foldConstant } from '../code.js';
import type { Node } from '../syntax.js';
import { ExpressionError, type Run } from '../value.js';
import { codeOf, type Generate, type Scope } from './scope.js';

/**
 * `&&` and `||` as CEL has them: they are commutative, so an operand that cannot be computed does not matter when the
 * other one decides (`dimensions.absent == "x" || true` is true).
 */
export function generateLogic(node: Node, scope: Scope, generate: Generate): Code {
  const [left, right] = (node.args as readonly [Node, Node]).map((part) => generate(part, scope)) as [
    Code,
    Code,
  ];
  const run = logic(asBool(left).run, asBool(right).run, node.op === '||');
  return foldConstant({ ...codeOf(node, scope), run }, [left, right], 'keep');
}

function logic(left: Run<boolean>, right: Run<boolean>, deciding: boolean): Run<boolean> {
  return (env) => {
    let first: boolean;
    try {
      first = left(env);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      if (right(env) === deciding) return deciding;
      throw error;
    }
    return first === deciding ? deciding : right(env);
  };
}
