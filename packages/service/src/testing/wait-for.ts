import { holdsWithin } from '../platform/wait.js';

/** Far beyond what any condition takes: a busy machine must not fail a test. */
const TIMEOUT_MS = 120_000;

/** Waits until the condition holds; throws, naming `what`, when it does not within `timeoutMs`. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs = TIMEOUT_MS, what = 'the condition' }: { timeoutMs?: number; what?: string } = {},
): Promise<void> {
  if (!(await holdsWithin(condition, timeoutMs)))
    throw new Error(`${what} did not hold within ${timeoutMs} ms.`);
}
