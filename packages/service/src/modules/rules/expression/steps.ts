import { EVENT_STEPS_MAX, FAILURE_STEPS, STEPS_MAX } from './limits.js';

/** The remaining steps that all evaluations for one event share. */
export class EventSteps {
  #left: number;

  constructor(steps = EVENT_STEPS_MAX) {
    this.#left = steps;
  }

  /** False when the event has taken too many, and from then on. */
  take(count: number): boolean {
    this.#left -= count;
    return this.#left >= 0;
  }
}

/**
 * The steps of the event have run out. No ExpressionError, because no operator may go on without the operand
 * that met it, and it does not mean that a rule does not match: the event would be charged by the wrong one.
 */
export class EventStepsError extends Error {
  override readonly name = 'EventStepsError';
}

/** Steps for constants, which are computed once when an expression is compiled. */
const UNBOUNDED = new EventSteps(Number.POSITIVE_INFINITY);

/**
 * Counts the work of one evaluation where the length of the source does not bound it: the rounds of macros,
 * the characters of long text, the elements of lists. A step is chosen to take a tenth of a microsecond at
 * most, or little more.
 *
 * One counter belongs to one compiled expression. Evaluating is synchronous and never comes back to itself,
 * so the counter needs no place among the values that are handed down.
 */
export class Steps {
  #left = STEPS_MAX;
  #event = UNBOUNDED;

  /**
   * Begins an evaluation, which takes `steps` of its event, also when it fails.
   * @throws EventStepsError
   */
  begin(event: EventSteps, steps: number): void {
    this.#left = STEPS_MAX;
    this.#event = event;
    this.#takeOfEvent(steps);
  }

  /**
   * False when the evaluation has taken too many: what they were for is not to be done.
   * @throws EventStepsError
   */
  take(count: number): boolean {
    this.#left -= count;
    if (this.#left < 0) return false;
    this.#takeOfEvent(count);
    return true;
  }

  /** A failure has been made, which takes long, and must be thrown all the same. */
  addFailure(): void {
    this.#event.take(FAILURE_STEPS);
  }

  #takeOfEvent(count: number): void {
    if (!this.#event.take(count)) throw new EventStepsError();
  }
}
