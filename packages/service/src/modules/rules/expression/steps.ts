import { EVENT_STEPS_MAX, FAILURE_STEPS, STEPS_MAX } from './limits.js';

/** The remaining steps that all evaluations for one event share. */
export class EventSteps {
  #left: number;

  constructor(steps = EVENT_STEPS_MAX) {
    this.#left = steps;
  }

  /** How many steps are left; negative after too many. */
  get left(): number {
    return this.#left;
  }

  /** Returns false when the event has taken too many steps, and from then on. */
  take(count: number): boolean {
    this.#left -= count;
    return this.#left >= 0;
  }
}

/**
 * The steps of the event have run out. Not an ExpressionError: no operator may continue without the operand that met
 * it, and it does not mean that a rule does not match, or the event would be charged by the wrong rule.
 */
export class EventStepsError extends Error {
  override readonly name = 'EventStepsError';
}

/** Steps for constants, which are computed once when an expression is compiled. */
const UNBOUNDED = new EventSteps(Number.POSITIVE_INFINITY);

/**
 * Counts the work of one evaluation where the length of the source does not bound it: the rounds of macros, the
 * characters of long text, the elements of lists. A step takes about a tenth of a microsecond at most.
 *
 * One counter belongs to one compiled expression. Evaluation is synchronous and never re-enters, so the counter need
 * not be passed along with the values.
 */
export class Steps {
  #left = STEPS_MAX;
  #event = UNBOUNDED;

  /**
   * Starts an evaluation, which takes `steps` of its event, also when it fails.
   * @throws EventStepsError
   */
  begin(event: EventSteps, steps: number): void {
    this.#left = STEPS_MAX;
    this.#event = event;
    this.#takeOfEvent(steps);
  }

  /**
   * Returns false when the evaluation has taken too many steps: the work must not be done then.
   * @throws EventStepsError
   */
  take(count: number): boolean {
    this.#left -= count;
    if (this.#left < 0) return false;
    this.#takeOfEvent(count);
    return true;
  }

  /** Counts a failure, which takes long; it is thrown even when no steps are left. */
  addFailure(): void {
    this.#event.take(FAILURE_STEPS);
  }

  #takeOfEvent(count: number): void {
    if (!this.#event.take(count)) throw new EventStepsError();
  }
}
