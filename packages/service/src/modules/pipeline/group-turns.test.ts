import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { GroupPace, measureUse, type RowStorage, StorageTurns, USE_WINDOW_MS } from './group-turns.js';

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

const EVERYBODY: readonly RowStorage[] = [7, null, 3];

describe('StorageTurns', () => {
  it('lets everybody who waits have a turn before anybody has a second', () => {
    const turns = new StorageTurns();
    const had = Array.from({ length: 6 }, () => turns.next(EVERYBODY, 0)?.storage);
    expect(had).toEqual([null, 3, 7, null, 3, 7]);
  });

  it('continues from its place, however the storages changed', () => {
    const turns = new StorageTurns();
    expect(turns.next([null, 3], 0)).toEqual({ storage: null });
    expect(turns.next([null, 2, 9], 0)).toEqual({ storage: 2 });
    expect(turns.next([null, 1], 0)).toEqual({ storage: null });
    expect(turns.next([], 0)).toBeUndefined();
  });

  it('passes over those who pause, and says how long the first of them does', () => {
    const turns = new StorageTurns();
    turns.pause(null, 400);
    turns.pause(7, 300);
    expect(turns.next(EVERYBODY, 100)).toEqual({ storage: 3 });
    expect(turns.next([null, 7], 100)).toBeUndefined();
    expect(turns.waitMs([null, 7], 100)).toBe(200);
    expect(turns.next([null, 7], 300)).toEqual({ storage: 7 });
    expect(turns.next([null, 7], 400)).toEqual({ storage: null });
  });
});
