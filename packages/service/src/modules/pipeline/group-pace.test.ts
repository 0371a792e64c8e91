import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { GroupPace, measureUse, USE_WINDOW_MS } from './group-pace.js';

it.each([
  ['calm', 0.6, [1, 4_999, 5_000, 9_999, 10_000], [250, 250, 400, 400, 0]],
  ['busy', 0.61, [1, 4_999, 10_000, 29_999, 30_000], [1_200, 1_200, 1_200, 1_200, 0]],
])('a %s thread lets groups wait for each other', (_what, use, sizes, intervalsMs) => {
  const pace = new GroupPace(() => use);
  expect(sizes.map((size) => pace.intervalMs(size))).toEqual(intervalsMs);
});

it('the use of a thread is that of the last whole window', async () => {
  let nowMs = 0;
  const use = measureUse(() => nowMs);
  work(20);
  nowMs = USE_WINDOW_MS - 1;
  expect(use()).toBe(0);
  nowMs = USE_WINDOW_MS;
  const working = use();
  expect(working).toBeGreaterThan(0);
  expect(working).toBeLessThanOrEqual(1);
  await delay(200);
  nowMs = 2 * USE_WINDOW_MS - 1;
  expect(use()).toBe(working);
  nowMs = 2 * USE_WINDOW_MS;
  expect(use()).toBeLessThan(working);
});

function work(forMs: number): void {
  const startMs = performance.now();
  while (performance.now() - startMs < forMs);
}
