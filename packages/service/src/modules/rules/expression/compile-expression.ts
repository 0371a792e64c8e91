import { EXPRESSION_BYTES_MAX } from '@tollgate/contract';
import { Decimal } from '../../../kernel/decimal.js';
import type { Code } from './code.js';
import { completeTypes } from './complete-types.js';
import { readDecimalLiterals } from './decimal-literals.js';
import { ENVIRONMENTS, type ExpressionNames } from './environment.js';
import { generate } from './generate/index.js';
import { stepsOf } from './generate/weight.js';
import { type ExpressionIssue, issueAt, issueOf } from './issue.js';
import { parseExpression } from './parse.js';
import { assertPermitted } from './permit.js';
import { Steps } from './steps.js';
import { type Node, refuse } from './syntax.js';
import type { ExpressionEnv, Run } from './value.js';

/** The result type of each kind of expression. */
export interface ResultOf {
  unit_price: Decimal;
  amount: Decimal;
  /** Sees only `total.quantity`, and some dimensions. */
  total: Decimal;
  match: boolean;
}

export type ExpressionKind = keyof ResultOf;

export interface ExpressionOptions<Kind extends ExpressionKind> {
  readonly kind: Kind;
  /** Whether `item.unit_price` has a value; by default in an amount only. */
  readonly hasUnitPrice?: boolean;
  /** The only dimensions that the expression may read; by default all. */
  readonly dimensions?: readonly string[];
}

export type CompiledExpression<Result> =
  | {
      readonly ok: true;
      /** @throws ExpressionError when it cannot be computed for these values; EventStepsError */
      readonly evaluate: (env: ExpressionEnv) => Result;
      /** The result, when it is the same for every event. */
      readonly constant: Result | undefined;
    }
  | { readonly ok: false; readonly issue: ExpressionIssue };

const RESULT_TYPES: Readonly<Record<ExpressionKind, 'Decimal' | 'bool'>> = {
  unit_price: 'Decimal',
  amount: 'Decimal',
  total: 'Decimal',
  match: 'bool',
};

/** How to state the type of a value that is only known for each event, such as a dimension. */
const UNKNOWN_TYPE_HINTS = {
  Decimal: 'write dec(…) around it',
  bool: 'compare it, as in … == true',
} as const;

/**
 * Parses, type-checks and compiles a CEL expression. An accepted expression cannot hang, exhaust memory or
 * reach anything but its variables; see the README for the bounds.
 */
export function compileExpression<Kind extends ExpressionKind>(
  source: string,
  options: ExpressionOptions<Kind>,
): CompiledExpression<ResultOf[Kind]> {
  // A character takes at least one byte: long sources are refused without encoding them.
  if (source.length > EXPRESSION_BYTES_MAX || Buffer.byteLength(source) > EXPRESSION_BYTES_MAX) {
    return { ok: false, issue: issueAt('', 0, `expected at most ${EXPRESSION_BYTES_MAX} bytes`) };
  }
  const hasUnitPrice = options.hasUnitPrice ?? options.kind === 'amount';
  try {
    const expected = RESULT_TYPES[options.kind];
    const names = options.kind === 'total' ? 'total' : hasUnitPrice ? 'withUnitPrice' : 'withoutUnitPrice';
    const root = checkedTree(source, ENVIRONMENTS[names], expected);
    const steps = new Steps();
    const code = generate(root, { source, hasUnitPrice, dimensions: options.dimensions, steps });
    if (code.type !== expected) {
      const hint = code.type === 'dyn' ? `; ${UNKNOWN_TYPE_HINTS[expected]}` : '';
      refuse(root, `expected an expression of type ${expected}, found ${code.type}${hint}`);
    }
    return {
      ok: true,
      evaluate: proved(code, expected, steps) as (env: ExpressionEnv) => ResultOf[Kind],
      constant: code.constant as ResultOf[Kind] | undefined,
    };
  } catch (error) {
    return { ok: false, issue: issueOf(error, source) };
  }
}

/** Checks again, at run time, what the type check has proved, because money depends on it. */
function proved({ node, run, site }: Code, expected: 'Decimal' | 'bool', steps: Steps): Run {
  const weight = stepsOf(node);
  const unproved = `expected ${expected}, although the type check found no mistake`;
  return expected === 'bool'
    ? (env) => {
        steps.begin(env.steps, weight);
        const result = run(env);
        return typeof result === 'boolean' ? result : site.fail(unproved);
      }
    : (env) => {
        steps.begin(env.steps, weight);
        const result = run(env);
        return result instanceof Decimal ? result : site.fail(unproved);
      };
}

/** @throws TypeError (of cel-js), Refusal */
function checkedTree(source: string, environment: ExpressionNames, expected: 'Decimal' | 'bool'): Node {
  const { root, nodes, check } = parseExpression(environment, source);
  readDecimalLiterals(nodes, expected === 'Decimal' ? root : undefined, source);
  assertPermitted(root, source);
  completeTypes(nodes);
  const { error } = check();
  if (error === undefined) return root;
  // cel-js has no issue of its own for a value of an empty map: `{}.a > 1`.
  if (error.message.includes(' overlaps with ')) refuse(root, 'the type of an operand is not known');
  throw error;
}
