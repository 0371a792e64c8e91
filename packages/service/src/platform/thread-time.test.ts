import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { threadTime } from './thread-time.js';
import { Turns } from './turns.js';

it.runIf(process.platform === 'linux')(
  'counts the time in which other threads had the processors',
  async () => {
    const others = Array.from(
      { length: 2 * availableParallelism() },
      () => new Worker('for (;;);', { eval: true }),
    );
    try {
      const before = { now: threadTime.nowMs(), waited: threadTime.waitedMs() };
      const turns = new Turns();
      while (threadTime.waitedMs() === before.waited) if (turns.isOver) await turns.pause();
      const waited = threadTime.waitedMs() - before.waited;
      expect(waited).toBeGreaterThan(0);
      expect(waited).toBeLessThanOrEqual(threadTime.nowMs() - before.now);
    } finally {
      await Promise.all(others.map((other) => other.terminate()));
    }
  },
);
