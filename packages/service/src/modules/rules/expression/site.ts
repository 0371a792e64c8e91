import { DecimalRangeError, DivisionByZeroError } from '../../../kernel/decimal.js';
import { ExpressionError, type ExpressionErrorCode, type Position } from './value.js';

/**
 * A place in an expression that can fail. Its errors are made once and thrown again, because an event stream can hit
 * the same missing dimension a million times and collecting a stack is slower than the whole evaluation.
 */
export class Site {
  readonly #errors = new Map<string, ExpressionError>();

  constructor(readonly position: Position) {}

  /** `reason` must not depend on the event: one error is kept for each. */
  fail(reason: string, code: ExpressionErrorCode = 'expression_failed'): never {
    let error = this.#errors.get(reason);
    if (error === undefined) {
      error = new ExpressionError(code, this.position, reason);
      error.stack = error.message;
      this.#errors.set(reason, error);
    }
    throw error;
  }

  /** Gives what decimal arithmetic threw its place in the expression. */
  failDecimal(error: unknown): never {
    if (error instanceof DecimalRangeError) {
      return this.fail(`the decimal is out of range: ${error.message}`, 'decimal_out_of_range');
    }
    if (error instanceof DivisionByZeroError) return this.fail('division by zero');
    throw error;
  }
}
