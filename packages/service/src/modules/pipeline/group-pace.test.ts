import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { GroupPace, measureUse } from './group-pace.js';

it.each([
  ['calm', 0.6, 10_000, 400],
  ['busy', 0.61, 30_000, 1_200],
])('a %s thread lets groups wait for each other', (_what, use, events, intervalMs) => {
  const pace = new GroupPace(() => use);
  expect([1, events - 1, events].map((size) => pace.intervalMs(size))).toEqual([intervalMs, intervalMs, 0]);
});

it('the use of a thread is that since it was last asked for', async () => {
  const use = measureUse();
  await delay(50);
  const waiting = use();
  const startMs = performance.now();
  while (performance.now() - startMs < 50);
  const working = use();
  expect(waiting).toBeGreaterThanOrEqual(0);
  expect(working).toBeGreaterThan(waiting);
  expect(working).toBeLessThanOrEqual(1);
});
