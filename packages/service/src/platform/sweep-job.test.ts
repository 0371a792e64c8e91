import { describe, expect, it } from 'vitest';
import { waitFor } from '../testing/index.js';
import { Counter, createMetrics } from './metrics/index.js';
import { createSweepJob, inBatches } from './sweep-job.js';

describe('a sweep job', () => {
  it('sweeps until it is stopped, and counts and logs its failures', async () => {
    const failures = new Counter({ name: 'failures_total', help: 'Failures.', registers: [createMetrics()] });
    const logged: unknown[] = [];
    let sweeps = 0;
    const job = createSweepJob({
      sweep: async () => {
        sweeps += 1;
        if (sweeps === 2) throw new Error('away');
        return sweeps;
      },
      pollMs: 1,
      log: { warn: (...line: unknown[]) => void logged.push(line) },
      failureMessage: 'could not sweep',
      failures,
    });
    const stop = new AbortController();
    const running = job.run(stop.signal);
    await waitFor(() => sweeps > 3);
    stop.abort();
    await running;
    expect(logged).toEqual([[{ err: new Error('away') }, 'could not sweep']]);
    expect((await failures.get()).values[0]?.value).toBe(1);
  });

  it('does not report a sweep that fails because it is stopped', async () => {
    const stop = new AbortController();
    const logged: unknown[] = [];
    const job = createSweepJob({
      sweep: async () => {
        stop.abort();
        throw new Error('stopped');
      },
      pollMs: 1,
      log: { warn: (...line: unknown[]) => void logged.push(line) },
      failureMessage: 'could not sweep',
    });
    await job.run(stop.signal);
    expect(logged).toEqual([]);
  });
});

describe('work in batches', () => {
  it.each([
    [[0], 0, 1],
    [[2], 2, 1],
    [[3, 3, 1, 3], 7, 3],
    [[3, 0], 3, 2],
  ])('of %j ends with the first that is not full', async (batches, sum, steps) => {
    let step = 0;
    expect(await inBatches(3, async () => batches[step++] ?? 0)).toBe(sum);
    expect(step).toBe(steps);
  });

  it('ends when it is stopped', async () => {
    const stop = new AbortController();
    const step = async () => {
      stop.abort();
      return 3;
    };
    expect(await inBatches(3, step, stop.signal)).toBe(3);
    expect(await inBatches(3, step, stop.signal)).toBe(0);
  });
});
