import { setTimeout as delay } from 'node:timers/promises';

/** Looks at `condition` every `intervalMs` until it holds; answers false when `timeoutMs` have passed. */
export async function holdsWithin(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  intervalMs = 20,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() >= deadline) return false;
    await delay(intervalMs);
  }
  return true;
}
