import type { Decimal } from '../../../kernel/decimal.js';
import type { EventSteps } from './steps.js';

/** A dimension's value as expressions see it: text, an exact number or a truth value. */
export type DimensionValue = Decimal | string | boolean;

/** Every value that an expression can compute. `bigint` is CEL's int, `number` its double. */
export type Value =
  | Decimal
  | bigint
  | number
  | string
  | boolean
  | null
  | readonly Value[]
  | ReadonlyMap<Value, Value>;

export interface SubjectValue {
  readonly type: string;
  readonly id: string;
}

/** The variables of an expression. */
export interface ExpressionEnv {
  /** The quantity of the event, before it is rounded for storage; the total of a counter in `total_expr`. */
  readonly quantity: Decimal;
  /** Undefined where no unit price is known: in `unit_price_expr` and `match_expr`. */
  readonly unitPrice: Decimal | undefined;
  readonly metric: string;
  readonly unit: string;
  readonly dimensions: ReadonlyMap<string, DimensionValue>;
  readonly subject: SubjectValue | undefined;
  /** Unix seconds. */
  readonly occurredAt: number;
  /** The steps that the event may still take; expressions cannot read them. */
  readonly steps: EventSteps;
}

/** An environment inside a macro such as `exists`, where one more variable has a value. */
export interface Frame extends ExpressionEnv {
  readonly element?: Value;
}

export type Run<T extends Value = Value> = (env: Frame) => T;

/** A place in the source of an expression; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export function positionAt(source: string, offset: number): Position {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}

export function placed(position: Position, message: string): string {
  return `line ${position.line}, column ${position.column}: ${message}`;
}

export type ExpressionErrorCode = 'expression_failed' | 'decimal_out_of_range';

/** An expression could not be computed for one event. The message starts with the position. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';

  constructor(
    readonly code: ExpressionErrorCode,
    readonly position: Position,
    reason: string,
  ) {
    super(placed(position, reason));
  }
}
