import { describe, expect, it } from 'vitest';
import {
  ClaimTurns,
  GroupPace,
  measureShare,
  type RowStorage,
  SHARE_WINDOW_MS,
  StorageTurns,
  threadMs,
} from './turns.js';

it.each([
  ['calm', 0.6, 0.75, [1, 4_999, 5_000, 9_999, 10_000], [250, 250, 400, 400, 0]],
  ['crowded', 0.6, 0.76, [1, 4_999, 10_000, 29_999, 30_000], [500, 500, 500, 500, 0]],
  ['busy', 0.61, 0.76, [1, 4_999, 10_000, 29_999, 30_000], [1_200, 1_200, 1_200, 1_200, 0]],
])('on a %s process groups wait for each other', (_what, ofThread, ofProcessors, sizes, intervalsMs) => {
  const pace = new GroupPace(
    () => ofThread,
    () => ofProcessors,
  );
  expect(sizes.map((size) => pace.intervalMs(size))).toEqual(intervalsMs);
});

it('a share is that of the last whole window', () => {
  let [nowMs, busyMs] = [0, 100];
  const share = measureShare(
    () => busyMs,
    () => nowMs,
  );
  [nowMs, busyMs] = [SHARE_WINDOW_MS - 1, 900];
  expect(share()).toBe(0);
  [nowMs, busyMs] = [SHARE_WINDOW_MS, 1_100];
  expect(share()).toBe(1_000 / SHARE_WINDOW_MS);
  [nowMs, busyMs] = [2 * SHARE_WINDOW_MS - 1, 4_000];
  expect(share()).toBe(1_000 / SHARE_WINDOW_MS);
  [nowMs, busyMs] = [2 * SHARE_WINDOW_MS, 1_600];
  expect(share()).toBe(500 / SHARE_WINDOW_MS);
});

it('the busy time of a thread grows while it works', () => {
  const before = threadMs();
  const startMs = performance.now();
  while (performance.now() - startMs < 20);
  expect(threadMs() - before).toBeGreaterThanOrEqual(10);
});

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

describe('rows of corrections', () => {
  const batch = (dedicatedTo: RowStorage, isCorrection: boolean, eventCount = 4_000) => ({
    ...{ id: 1, eventCount, spoolFile: null, columnBytes: 1, dedicatedTo, isCorrection },
  });

  it('wait for each other after a group of their storage, and are looked at again and again', () => {
    const turns = new StorageTurns();
    const waiting = [batch(null, true), batch(null, true), batch(7, true)];
    turns.began(null, 1_000);
    turns.holdCorrections(waiting, 1_100);
    expect(turns.next([null, 7], 1_100)).toEqual({ storage: 7 });
    expect(turns.waitMs([null], 1_100)).toBe(100);
    turns.holdCorrections(waiting, 2_150);
    expect(turns.waitMs([null], 2_150)).toBe(50);
    turns.holdCorrections(waiting, 2_200);
    expect(turns.next([null], 2_200)).toEqual({ storage: null });
  });

  it.each([
    ['other rows wait', [batch(null, true), batch(null, false)]],
    ['they fill a group', [batch(null, true, 30_000), batch(null, true, 30_000)]],
    ['the projector drains', [batch(null, true)], Number.POSITIVE_INFINITY],
  ])('do not wait if %s', (_what, waiting, nowMs = 1_100) => {
    const turns = new StorageTurns();
    turns.began(null, 1_000);
    turns.holdCorrections(waiting, nowMs);
    expect(turns.next([null], nowMs)).toEqual({ storage: null });
  });

  it('pause for as long as other rows after a small group', () => {
    const turns = new StorageTurns();
    turns.began(null, 1_000);
    turns.pause(null, 1_400);
    turns.holdCorrections([batch(null, true)], 1_100);
    expect(turns.waitMs([null], 1_100)).toBe(300);
  });
});

describe('the turns of the loops of a worker', () => {
  const open = new AbortController().signal;

  it('do not wait after a full claim, and wait for a notification after an empty one', async () => {
    const turns = new ClaimTurns(100, 0);
    expect(turns.claimed(51)).toBe(true);
    await turns.gather(open);
    expect(turns.claimed(0)).toBe(false);
    let isOver = false;
    const gathering = turns.gather(open).then(() => {
      isOver = true;
    });
    await Promise.resolve();
    expect(isOver).toBe(false);
    turns.notify('appended');
    await gathering;
  });

  it('gather events for a while after a notification or a small claim, but not if segments have waited', async () => {
    const forEver = 2 ** 31 - 1;
    const turns = new ClaimTurns(100, forEver);
    expect(turns.claimed(50)).toBe(false);
    turns.notify('waiting');
    await turns.gather(open);
    const stop = new AbortController();
    const gathering = turns.gather(stop.signal);
    stop.abort();
    await gathering;
  });

  it('let one loop claim at a time', async () => {
    const turns = new ClaimTurns(100, 0);
    const endFirst = await turns.take();
    let hasSecond = false;
    const second = turns.take().then((end) => {
      hasSecond = true;
      end();
    });
    await Promise.resolve();
    expect(hasSecond).toBe(false);
    endFirst();
    await second;
  });
});
