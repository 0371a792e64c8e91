/**
 * A batch that was processed this soon after a change may have read the state before it, and the clocks of nodes
 * differ.
 */
const CHANGE_MARGIN_MS = 60_000;
/** Distance of the marks, so that changes that were made together share one. */
const MARK_STEP_MS = 10_000;

/** Returns the time from which every batch has read a change. */
export function safelyAfter(changeMs: number): number {
  return Math.ceil((changeMs + CHANGE_MARGIN_MS) / MARK_STEP_MS) * MARK_STEP_MS;
}

/** Returns the time until which no batch has read a change, or written to a window that was opened then. */
export function safelyBefore(changeMs: number): number {
  return Math.max(0, Math.floor((changeMs - CHANGE_MARGIN_MS) / MARK_STEP_MS) * MARK_STEP_MS);
}
