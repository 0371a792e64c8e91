import { describe, expect, it, vi } from 'vitest';
import type { Backlog, BacklogSize } from '../../platform/queue/index.js';
import { Wakeup } from '../../platform/wakeup.js';
import { BACKLOG_SEGMENTS_MAX, BacklogGate, timerScheduler } from './backlog-gate.js';

const EMPTY: Backlog = { segments: 0, events: 0, bytes: 0, deferredEvents: 0, oldestReceivedAtMs: undefined };

/** A gate whose refreshes the test starts. */
function gateOver(
  measure: () => Promise<Backlog>,
  tenantsHolding = async (_size: BacklogSize) => [] as string[],
) {
  let refresh: () => Promise<unknown> = async () => {};
  let stopped = false;
  const gate = new BacklogGate({
    queue: { backlog: measure, tenantsHolding },
    scheduler: {
      every: (task) => {
        refresh = task;
        return () => {
          stopped = true;
        };
      },
    },
    eventsMax: 100,
    bytesMax: 1_000,
  });
  return { gate, refresh: () => refresh(), isStopped: () => stopped };
}

describe('BacklogGate', () => {
  it.each([
    ['events', { events: 100 }],
    ['bytes', { bytes: 1_000 }],
    ['segments', { segments: BACKLOG_SEGMENTS_MAX }],
  ])('refuses while too many %s wait, and accepts again afterwards', async (_, excess) => {
    let backlog = { ...EMPTY, ...excess };
    const { gate, refresh } = gateOver(async () => backlog);
    gate.check('ten_1');
    await refresh();
    expect(() => gate.check('ten_1')).toThrow(
      expect.objectContaining({ code: 'ingest_backlog_full', retryAfterS: 5 }),
    );
    backlog = { segments: 1, events: 99, bytes: 999, deferredEvents: 0, oldestReceivedAtMs: 5 };
    await refresh();
    gate.check('ten_1');
    expect(gate.backlog).toEqual(backlog);
  });

  it('refuses tenants that hold more than their share before the backlog is full', async () => {
    const asked: BacklogSize[] = [];
    let backlog = { ...EMPTY, events: 74 };
    const { gate, refresh } = gateOver(
      async () => backlog,
      async (size) => {
        asked.push(size);
        return ['ten_loud'];
      },
    );
    await refresh();
    gate.check('ten_loud');
    expect(asked).toEqual([]);
    backlog = { ...EMPTY, segments: 3, events: 75, bytes: 10 };
    await refresh();
    expect(asked).toEqual([{ events: 75, bytes: 2_970, segments: 3 * (BACKLOG_SEGMENTS_MAX - 3) }]);
    expect(() => gate.check('ten_loud')).toThrow(
      expect.objectContaining({
        code: 'ingest_backlog_full',
        retryAfterS: 5,
        message: "The tenant's share of the usage queue is full; nothing was accepted. Try again later.",
      }),
    );
    gate.check('ten_quiet');
    backlog = { ...EMPTY, events: 40 };
    await refresh();
    gate.check('ten_loud');
  });

  it('keeps its last figures while the store is away', async () => {
    const measure = vi.fn<() => Promise<Backlog>>();
    measure.mockResolvedValueOnce({ ...EMPTY, events: 100 }).mockRejectedValueOnce(new Error('away'));
    const { gate, refresh } = gateOver(measure);
    await refresh();
    await refresh();
    expect(() => gate.check('ten_1')).toThrow();
  });

  it('stops measuring', () => {
    const { gate, isStopped } = gateOver(async () => EMPTY);
    gate.stop();
    expect(isStopped()).toBe(true);
  });
});

describe('the idle state of the gate', () => {
  const RESTING_MS = 2_000;
  const MEASURING_MS = 250;

  it('begins when nothing waits and no request comes, and ends with the next request', async () => {
    let backlog = EMPTY;
    let wakeup: Wakeup | undefined;
    let refresh: () => Promise<number> = async () => 0;
    const gate = new BacklogGate({
      queue: { backlog: async () => backlog, tenantsHolding: async () => [] },
      scheduler: {
        every: (task, wake) => {
          refresh = task;
          wakeup = wake;
          return () => {};
        },
      },
    });
    gate.check('ten_1');
    expect(await refresh()).toBe(MEASURING_MS);
    expect(await refresh()).toBe(RESTING_MS);
    backlog = { ...EMPTY, segments: 1 };
    expect(await refresh()).toBe(MEASURING_MS);
    backlog = EMPTY;
    expect(await refresh()).toBe(RESTING_MS);
    gate.check('ten_1');
    // A wait for ever ends at once.
    expect(await wakeup?.wait(2 ** 31 - 1, new AbortController().signal)).toBe(true);
    expect(await refresh()).toBe(MEASURING_MS);
  });
});

describe('timerScheduler', () => {
  it('runs at once and then again and again, never twice at a time, until stopped', async () => {
    vi.useFakeTimers();
    try {
      let runs = 0;
      const ends: ((pauseMs: number) => void)[] = [];
      const wakeup = new Wakeup();
      const task = () => {
        runs += 1;
        return new Promise<number>((resolve) => ends.push(resolve));
      };
      const stop = timerScheduler.every(task, wakeup);
      expect(runs).toBe(1);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(runs).toBe(1);
      ends.shift()?.(250);
      await vi.advanceTimersByTimeAsync(250);
      expect(runs).toBe(2);
      ends.shift()?.(250);
      await vi.advanceTimersByTimeAsync(100);
      expect(runs).toBe(2);
      wakeup.notify();
      await vi.advanceTimersByTimeAsync(0);
      expect(runs).toBe(3);
      stop();
      ends.shift()?.(250);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(runs).toBe(3);
    } finally {
      vi.useRealTimers();
    }
  });
});
