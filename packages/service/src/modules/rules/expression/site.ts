import { DecimalRangeError, DivisionByZeroError } from '../../../kernel/decimal.js';
import { STEPS_MAX } from './limits.js';
import type { Steps } from './steps.js';
import { ExpressionError, type ExpressionErrorCode, positionAt } from './value.js';

const TOO_MANY_STEPS = `the expression takes more than ${STEPS_MAX} steps`;

/**
 * A place in an expression that can fail. Its errors are created at the first failure and thrown again after it,
 * because an event stream can hit the same missing dimension a million times, and collecting a stack takes longer than
 * evaluating.
 */
export class Site {
  readonly #source: string;
  readonly #offset: number;
  readonly #steps: Steps;
  #errors: Map<string, ExpressionError> | undefined;

  constructor(source: string, offset: number, steps: Steps) {
    this.#source = source;
    this.#offset = offset;
    this.#steps = steps;
  }

  /** Counts work that the length of the source does not bound; fails when there is too much of it. */
  spend(steps: number): void {
    if (!this.#steps.take(steps)) this.fail(TOO_MANY_STEPS);
  }

  /** `reason` must not depend on the event: one error is kept for each. */
  fail(reason: string, code: ExpressionErrorCode = 'expression_failed'): never {
    this.#steps.addFailure();
    this.#errors ??= new Map();
    let error = this.#errors.get(reason);
    if (error === undefined) {
      error = new ExpressionError(code, positionAt(this.#source, this.#offset), reason);
      error.stack = error.message;
      this.#errors.set(reason, error);
    }
    throw error;
  }

  /** Adds the place in the expression to an error of decimal arithmetic. */
  failDecimal(error: unknown): never {
    if (error instanceof DecimalRangeError) {
      return this.fail(`the decimal is out of range: ${error.message}`, 'decimal_out_of_range');
    }
    if (error instanceof DivisionByZeroError) return this.fail('division by zero');
    throw error;
  }
}
