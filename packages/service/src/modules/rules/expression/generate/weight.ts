import { OPERATION_STEPS } from '../limits.js';
import { type Node, operands } from '../syntax.js';

const PLAIN: ReadonlySet<string> = new Set(['value', 'id', '.', '[]', 'list', 'map']);

/**
 * Returns an upper bound of the steps of a node and those below it, without the rounds of macros, which are counted at
 * run time.
 */
export function stepsOf(node: Node): number {
  const own = PLAIN.has(node.op) ? 1 : OPERATION_STEPS;
  return operands(node).reduce((sum, operand) => sum + stepsOf(operand), own);
}
