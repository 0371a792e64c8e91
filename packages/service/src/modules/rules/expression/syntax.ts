import type { ASTNode } from '@marcbachmann/cel-js';

/** The parts of cel-js's syntax tree that this module reads; its own typings leave the checked type out. */
export interface Node {
  readonly op: string;
  readonly args: unknown;
  /** Offset of the node's anchor in the source, e.g. a field name. */
  readonly pos: number;
  readonly start: number;
  readonly end: number;
  /** Set by the type check, for every node that can have a value. */
  readonly checkedType?: { readonly kind: string; readonly name: string };
  readonly meta: { readonly alternate?: Node; readonly macro?: object };
}

/** A node while the tree may still be changed: before the type check. */
export type OpenNode = { -readonly [Field in keyof Node]: Node[Field] };

export function nodeOf(ast: ASTNode): Node {
  return ast as unknown as Node;
}

/**
 * The type of a value as far as the type check knows it. `item` and `subject` are records: only their fields
 * are values.
 */
export type StaticType = 'Decimal' | 'int' | 'double' | 'string' | 'bool' | 'null' | 'list' | 'map' | 'dyn';

const STATIC_TYPES: readonly string[] = ['Decimal', 'int', 'double', 'string', 'bool', 'null'];

/** Returns undefined for a type that expressions cannot compute with. */
export function staticType(node: Node): StaticType | undefined {
  const type = node.checkedType;
  // The type of an element of an empty list is a type parameter.
  if (type === undefined || type.kind === 'dyn' || type.kind === 'param') return 'dyn';
  if (type.kind === 'list' || type.kind === 'map') return type.kind;
  return STATIC_TYPES.includes(type.name) ? (type.name as StaticType) : undefined;
}

/** The expression is refused when it is saved. */
export class Refusal extends Error {
  constructor(
    readonly offset: number,
    readonly reason: string,
  ) {
    super(reason);
  }
}

export function refuse(node: Node, reason: string): never {
  throw new Refusal(node.pos, reason);
}

/** Whether the parser took this node for a macro over a list or map. */
export function isComprehension(node: Node): boolean {
  return node.op === 'rcall' && node.meta.alternate !== undefined;
}

export function isHas(node: Node): boolean {
  return node.op === 'call' && node.meta.macro !== undefined;
}

/** The operands of a node in the order of the source. */
export function operands(node: Node): readonly Node[] {
  const args = node.args;
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
      return [(args as [Node, string])[0]];
    case 'call':
      return (args as [string, Node[]])[1];
    case 'rcall': {
      const [, receiver, rest] = args as [string, Node, Node[]];
      return [receiver, ...rest];
    }
    case 'map':
      return (args as [Node, Node][]).flat();
    case '!_':
    case '-_':
      return [args as Node];
    default:
      return args as Node[];
  }
}

/**
 * The node and all below it, each before its operands. Walks with a list, because the tree may be deeper than
 * the stack.
 */
export function everyNode(root: Node): Node[] {
  const nodes = [root];
  for (let at = 0; at < nodes.length; at += 1) nodes.push(...operands(nodes[at] as Node));
  return nodes;
}
