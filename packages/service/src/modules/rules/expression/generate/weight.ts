import { OPERATION_STEPS } from '../limits.js';
import { type Node, operands } from '../syntax.js';

const PLAIN: ReadonlySet<string> = new Set(['value', 'id', '.', '[]', 'list', 'map']);

/**
 * The steps that a node and those below it take at most, the rounds of macros left out: they are counted as
 * they come.
 */
export function stepsOf(node: Node): number {
  const own = PLAIN.has(node.op) ? 1 : OPERATION_STEPS;
  return operands(node).reduce((sum, operand) => sum + stepsOf(operand), own);
}
