import type { Code } from '../code.js';
import { Site } from '../site.js';
import type { Steps } from '../steps.js';
import { type Node, refuse, staticType } from '../syntax.js';

/** The meaning of names at the place of a node, and how to compile the nodes below it. */
export interface Scope {
  readonly source: string;
  readonly hasUnitPrice: boolean;
  /** The only dimensions that may be read; undefined for all. */
  readonly dimensions: readonly string[] | undefined;
  /** The step counter of the whole expression. */
  readonly steps: Steps;
  /** The variable of the macro around the node, if there is one. */
  readonly element?: string;
}

/**
 * Compiles one node. Passed as a parameter, so that the files for the kinds of nodes need not import each other in
 * circles.
 */
export type Generate = (node: Node, scope: Scope) => Code;

/** The part of a Code that is known before its `run`. */
export function codeOf(node: Node, scope: Scope): Omit<Code, 'run' | 'constant'> {
  const type = staticType(node);
  if (type === undefined) {
    refuse(node, `expected a value to compute with, found ${node.checkedType?.name}`);
  }
  return { node, type, site: new Site(scope.source, node.pos, scope.steps) };
}
