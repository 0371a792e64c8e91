import type { Node } from './syntax.js';

/** A dimension that must be this very text for an expression to be true. */
export interface TextCondition {
  readonly dimension: string;
  readonly text: string;
}

/**
 * The conditions `dimensions.x == "text"` that stand at the top level of a chain of `&&`, once for each dimension.
 * Where one of them does not hold, because the dimension is absent, another text or no text, the expression is false or
 * cannot be computed, whatever the rest of it says. What is left out here is only not known.
 */
export function textConditions(root: Node): readonly TextCondition[] {
  const found = new Map<string, TextCondition>();
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.op === '&&') {
      const [left, right] = node.args as readonly [Node, Node];
      pending.push(right, left);
      continue;
    }
    const condition = node.op === '==' ? textCondition(node.args as readonly [Node, Node]) : undefined;
    if (condition !== undefined && !found.has(condition.dimension)) {
      found.set(condition.dimension, condition);
    }
  }
  return [...found.values()];
}

function textCondition([left, right]: readonly [Node, Node]): TextCondition | undefined {
  const dimension = dimensionName(left) ?? dimensionName(right);
  const text = textLiteral(right) ?? textLiteral(left);
  return dimension === undefined || text === undefined ? undefined : { dimension, text };
}

/** Of `dimensions.name` and `dimensions["name"]`. */
function dimensionName(node: Node): string | undefined {
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [container, key] = node.args as readonly [Node, Node | string];
  if (container.op !== 'id' || container.args !== 'dimensions') return undefined;
  return typeof key === 'string' ? key : textLiteral(key);
}

function textLiteral(node: Node): string | undefined {
  return node.op === 'value' && typeof node.args === 'string' ? node.args : undefined;
}
