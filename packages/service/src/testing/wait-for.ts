import { setTimeout as delay } from 'node:timers/promises';

/** Far beyond what any condition takes: a busy machine must not fail a test. */
const TIMEOUT_MS = 120_000;
/** Pauses between two checks: short at first, then longer, because a check is often a request to a busy service. */
const FIRST_PAUSE_MS = 5;
const PAUSE_GROWTH = 1.5;
/** Upper bound of the pauses of a short wait. In a longer one it is a part of the time that has been waited. */
const SHORT_PAUSE_MS_MAX = 50;
const PAUSE_SHARE_MAX = 0.1;
const PAUSE_MS_MAX = 250;

/** Waits until the condition holds; throws, naming `what`, when it does not within `timeoutMs`. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs = TIMEOUT_MS, what = 'the condition' }: { timeoutMs?: number; what?: string } = {},
): Promise<void> {
  const startMs = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; !(await condition()); pauseMs *= PAUSE_GROWTH) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs >= timeoutMs) throw new Error(`${what} did not hold within ${timeoutMs} ms.`);
    const pauseMsMax = Math.max(SHORT_PAUSE_MS_MAX, waitedMs * PAUSE_SHARE_MAX);
    await delay(Math.min(pauseMs, pauseMsMax, PAUSE_MS_MAX));
  }
}
