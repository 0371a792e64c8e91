import { setTimeout as delay } from 'node:timers/promises';

/** Far beyond what any condition takes: a busy machine must not fail a test. */
const TIMEOUT_MS = 120_000;
/** Pauses between two checks: short at first, then longer, because a check is often a request to a busy service. */
const FIRST_PAUSE_MS = 5;
const PAUSE_MS_MAX = 50;
const PAUSE_GROWTH = 1.5;

/** Waits until the condition holds; throws, naming `what`, when it does not within `timeoutMs`. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs = TIMEOUT_MS, what = 'the condition' }: { timeoutMs?: number; what?: string } = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; !(await condition()); pauseMs *= PAUSE_GROWTH) {
    if (performance.now() >= deadline) throw new Error(`${what} did not hold within ${timeoutMs} ms.`);
    await delay(Math.min(pauseMs, PAUSE_MS_MAX));
  }
}
