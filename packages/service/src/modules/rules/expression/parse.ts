import { type Environment, ParseError } from '@marcbachmann/cel-js';
import { explain } from './issue.js';
import { everyNode, type Node, nodeOf, type OpenNode, Refusal } from './syntax.js';

/** Upper bound of doubles without a digit before the point in one expression: each of them costs one more parse. */
const LEADING_POINTS_MAX = 16;

export interface ParsedExpression {
  readonly root: Node;
  /** All nodes, each before its operands. */
  readonly nodes: readonly Node[];
  readonly check: ReturnType<Environment['parse']>['check'];
}

/**
 * Parses a source with cel-js, which does not support doubles such as `.5`: a zero is inserted before the point and the
 * whole is parsed again. The nodes have their places in the original source.
 * @throws Refusal
 */
export function parseExpression(environment: Environment, source: string): ParsedExpression {
  /** Offsets into `text` of zeros that were inserted and are not in the source. */
  const zeros: number[] = [];
  const written = (offset: number) => offset - zeros.filter((zero) => zero < offset).length;
  for (let text = source; ; ) {
    try {
      const parsed = environment.parse(text);
      const root = nodeOf(parsed.ast);
      const nodes = everyNode(root);
      if (zeros.length > 0) for (const node of nodes) place(node, written);
      return { root, nodes, check: parsed.check };
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      const at = error.range?.start ?? 0;
      if (!isLeadingPoint(error, text, at) || zeros.length === LEADING_POINTS_MAX) {
        throw new Refusal(written(at), explain(error.code, error.summary));
      }
      text = `${text.slice(0, at)}0${text.slice(at)}`;
      zeros.push(at);
    }
  }
}

function place(node: OpenNode, written: (offset: number) => number): void {
  node.pos = written(node.pos);
  node.start = written(node.start);
  node.end = written(node.end);
}

function isLeadingPoint({ code, summary }: ParseError, text: string, at: number): boolean {
  return code === 'unexpected_token' && summary.endsWith(': DOT') && /^\.[0-9]/.test(text.slice(at, at + 2));
}
