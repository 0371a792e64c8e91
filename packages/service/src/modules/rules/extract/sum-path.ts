import { SUM_NODES_MAX } from '@tollgate/contract';
import { type JSONPathQuery, jsonpath, TokenKind } from 'json-p3';
import {
  compilePath,
  isRecord,
  type PathSegment,
  parsePath,
  type ReadPath,
  type RefusedPath,
  readerOf,
  refusedAt,
  singularSegment,
} from './path.js';

/** Returns all nodes that a path selects, in the order of the document; undefined where it would read too many. */
export type ReadNodes = (root: unknown) => readonly unknown[] | undefined;

export type CompiledSumPath =
  | { readonly ok: true; readonly read: ReadNodes; readonly segments: readonly PathSegment[] }
  | RefusedPath;

type Test = (node: unknown) => boolean;

/** One segment: the single node below a node, or those of its entries that pass a test. */
type Step = { readonly read: ReadPath } | { readonly test: Test };

const { FilterSelector, WildcardSelector } = jsonpath.selectors;
const { BooleanLiteral, InfixExpression, LogicalExpression, NullLiteral } = jsonpath.expressions;
const { PrefixExpression, RelativeQuery, StringLiteral } = jsonpath.expressions;

type Segment = JSONPathQuery['segments'][number];
type FilterExpression = InstanceType<typeof LogicalExpression>['expression'];

/** A refused part of a sum path. Thrown and caught in this file only. */
class Unsupported extends Error {}

/**
 * Compiles a path that may select many nodes: names, indexes, `[*]`, and filters made of `==`, `!=`, `&&`, `||` and `!`
 * over paths below `@`, texts, true, false and null. There are no patterns and no descent, so its work is proportional
 * to the nodes it reads.
 */
export function compileSumPath(source: string): CompiledSumPath {
  const parsed = parsePath(source);
  if (!parsed.ok) return parsed;
  const { query, prefixLength } = parsed;
  const steps: Step[] = [];
  const segments: PathSegment[] = [];
  for (const segment of query.segments) {
    const singular = singularSegment(segment, source, prefixLength);
    if (typeof singular === 'object') return singular;
    try {
      steps.push(singular === undefined ? { test: choiceOf(segment) } : { read: readerOf([singular]) });
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      return refusedAt(source, segment.token.index - prefixLength, error.message);
    }
    // An index counts as any entry, so the whole list is read.
    segments.push(singular ?? 0);
  }
  return { ok: true, read: (root) => select(steps, root), segments };
}

function select(steps: readonly Step[], root: unknown): readonly unknown[] | undefined {
  let nodes: readonly unknown[] = [root];
  let looked = 0;
  for (const step of steps) {
    const found: unknown[] = [];
    for (const node of nodes) {
      const below = 'read' in step ? [step.read(node)] : entriesOf(node);
      looked += 'read' in step ? 0 : below.length;
      if (looked > SUM_NODES_MAX) return undefined;
      for (const entry of below) {
        if (entry !== undefined && (!('test' in step) || step.test(entry))) found.push(entry);
      }
    }
    nodes = found;
  }
  return nodes;
}

/** Returns the entries of a list, or the members of an object, as in RFC 9535. */
function entriesOf(node: unknown): readonly unknown[] {
  if (Array.isArray(node)) return node;
  return isRecord(node) ? Object.values(node) : [];
}

function choiceOf({ selectors, token }: Segment): Test {
  const [selector, ...others] = selectors;
  const isChild = token.kind !== TokenKind.DDOT && others.length === 0;
  if (isChild && selector instanceof WildcardSelector) return () => true;
  if (isChild && selector instanceof FilterSelector) return testOf(selector.expression);
  throw new Unsupported('expected names, indexes, [*] and filters such as [?@.type == "a"] in a sum path');
}

function testOf(expression: FilterExpression): Test {
  if (expression instanceof LogicalExpression) return testOf(expression.expression);
  if (expression instanceof RelativeQuery) {
    const read = operandOf(expression);
    return (node) => read(node) !== undefined;
  }
  if (expression instanceof PrefixExpression && expression.operator === '!') {
    const test = testOf(expression.right);
    return (node) => !test(node);
  }
  if (expression instanceof InfixExpression) return infixTest(expression);
  throw unsupportedFilter();
}

function infixTest({ left, operator, right }: InstanceType<typeof InfixExpression>): Test {
  if (operator === '&&' || operator === '||') {
    const [first, second] = [testOf(left), testOf(right)];
    return operator === '&&' ? (node) => first(node) && second(node) : (node) => first(node) || second(node);
  }
  if (operator !== '==' && operator !== '!=') throw unsupportedFilter();
  const [one, other] = [operandOf(left), operandOf(right)];
  // One side is a literal, which equals only itself: lists and objects are never compared.
  if (left instanceof RelativeQuery === right instanceof RelativeQuery) throw unsupportedFilter();
  return (node) => (one(node) === other(node)) === (operator === '==');
}

function operandOf(expression: FilterExpression): ReadPath {
  if (expression instanceof RelativeQuery) {
    const path = compilePath(expression.path.toString());
    if (!path.ok) throw unsupportedFilter();
    return path.read;
  }
  if (expression instanceof NullLiteral) return () => null;
  if (expression instanceof StringLiteral || expression instanceof BooleanLiteral) {
    const { value } = expression;
    return () => value;
  }
  throw unsupportedFilter();
}

function unsupportedFilter(): Unsupported {
  return new Unsupported(
    'expected a filter with ==, !=, &&, || and !, paths to one node below @, strings, true, false or null',
  );
}
