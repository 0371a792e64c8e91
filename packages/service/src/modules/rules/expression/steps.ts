import { STEPS_MAX } from './limits.js';

/**
 * Counts the work of one evaluation where the length of the source does not bound it: the rounds of macros, the characters
 * of long text, the elements of lists. A step is chosen to take a tenth of a microsecond at most, or little more.
 *
 * One counter belongs to one compiled expression. Evaluating is synchronous and never comes back to itself, so the counter
 * needs no place among the values that are handed down.
 */
export class Steps {
  #left = STEPS_MAX;

  /** A new evaluation. */
  begin(): void {
    this.#left = STEPS_MAX;
  }

  /** False when the evaluation has taken too many. */
  take(count: number): boolean {
    this.#left -= count;
    return this.#left >= 0;
  }
}
