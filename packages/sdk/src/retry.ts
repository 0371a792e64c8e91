import type { Timing } from './clock.js';
import { ApiError } from './errors.js';

const BACKOFF_MS_MIN = 200;
const BACKOFF_MS_MAX = 30_000;
/**
 * Upper bound of a pause that the service asks for, in milliseconds; longer than an outage. An exceeded quota asks for
 * days, but may be lifted sooner by a new plan, and Node's timers end at once beyond about 24 days.
 */
const ASKED_MS_MAX = 600_000;

/**
 * Calls `attempt` until it succeeds, fails for good, or `signal` aborts; then it throws the last error. Pauses double
 * up to 30 s, with full jitter (so that many clients do not return at once), and are never shorter than `Retry-After`,
 * up to ten minutes.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { timing, signal }: { readonly timing: Timing; readonly signal: AbortSignal },
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      // Only a response can be a final refusal; a failure without a response may be temporary.
      const isFinal = error instanceof ApiError && !error.isTransient;
      if (signal.aborted || isFinal) throw error;
      await timing.sleep(pauseMs(error, failures, timing), signal);
      if (signal.aborted) throw error;
    }
  }
}

function pauseMs(error: unknown, failures: number, timing: Timing): number {
  const askedMs = error instanceof ApiError ? Math.min(ASKED_MS_MAX, (error.retryAfterS ?? 0) * 1_000) : 0;
  const ceilingMs = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** (failures - 1));
  return askedMs + Math.ceil(ceilingMs * timing.random());
}
