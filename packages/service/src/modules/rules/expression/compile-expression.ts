import { EXPRESSION_BYTES_MAX } from '@tollgate/contract';
import type { Decimal } from '../../../kernel/decimal.js';
import { ENVIRONMENTS } from './environment.js';
import { generate } from './generate/index.js';
import { type ExpressionIssue, issueAt, issueOf } from './issue.js';
import { assertPermitted } from './permit.js';
import { type Node, nodeOf, refuse, type StaticType } from './syntax.js';
import type { ExpressionEnv } from './value.js';

/** What an expression is for, and so what it must yield. */
export interface ResultOf {
  unit_price: Decimal;
  amount: Decimal;
  match: boolean;
}

export type ExpressionKind = keyof ResultOf;

export interface ExpressionOptions<Kind extends ExpressionKind> {
  readonly kind: Kind;
  /** Whether `item.unit_price` has a value; by default in an amount only. */
  readonly hasUnitPrice?: boolean;
}

export type CompiledExpression<Result> =
  | {
      readonly ok: true;
      /** @throws ExpressionError when it cannot be computed for these values */
      readonly evaluate: (env: ExpressionEnv) => Result;
      /** The result, when it is the same for every event. */
      readonly constant: Result | undefined;
    }
  | { readonly ok: false; readonly issue: ExpressionIssue };

const RESULT_TYPES: Readonly<Record<ExpressionKind, StaticType>> = {
  unit_price: 'Decimal',
  amount: 'Decimal',
  match: 'bool',
};

/**
 * Parses, type-checks and compiles a CEL expression. What is accepted cannot hang, exhaust memory or reach anything but
 * its variables; see the README for the bounds.
 */
export function compileExpression<Kind extends ExpressionKind>(
  source: string,
  options: ExpressionOptions<Kind>,
): CompiledExpression<ResultOf[Kind]> {
  // A character takes at least one byte: the long ones need not be encoded to be refused.
  if (source.length > EXPRESSION_BYTES_MAX || Buffer.byteLength(source) > EXPRESSION_BYTES_MAX) {
    return { ok: false, issue: issueAt('', 0, `expected at most ${EXPRESSION_BYTES_MAX} bytes`) };
  }
  const hasUnitPrice = options.hasUnitPrice ?? options.kind === 'amount';
  try {
    const root = checkedTree(source, hasUnitPrice);
    const code = generate(root, { source, hasUnitPrice });
    const expected = RESULT_TYPES[options.kind];
    if (code.type !== expected)
      refuse(root, `expected an expression of type ${expected}, found ${code.type}`);
    return {
      ok: true,
      evaluate: code.run as (env: ExpressionEnv) => ResultOf[Kind],
      constant: code.constant as ResultOf[Kind] | undefined,
    };
  } catch (error) {
    return { ok: false, issue: issueOf(error, source) };
  }
}

function checkedTree(source: string, hasUnitPrice: boolean): Node {
  const environment = hasUnitPrice ? ENVIRONMENTS.withUnitPrice : ENVIRONMENTS.withoutUnitPrice;
  const parsed = environment.parse(source);
  const root = nodeOf(parsed.ast);
  assertPermitted(root, source);
  const { error } = parsed.check();
  if (error !== undefined) throw error;
  return root;
}
