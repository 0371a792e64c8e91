import { afterEach, describe, expect, it } from 'vitest';
import type { PipelineStats } from '../modules/pipeline/index.js';
import { createMetrics } from '../platform/metrics/index.js';
import { waitFor } from '../testing/index.js';
import { PipelineMetrics } from './pipeline-metrics.js';
import { RatingThreads, youngGenerationMb } from './rating-threads.js';

const DATA = {
  postgresConnection: '',
  owner: '',
  isTraced: false,
  connectionsMax: 1,
  folders: undefined,
  objectStore: undefined,
  logLevel: 'silent',
} as const;

/** Reports the notifications of a thread as statistics; the first `full` of them begin with a full claim. */
const script = (full: number) => `import { parentPort } from 'node:worker_threads';
  let left = ${full};
  const seconds = { appended: 0, waiting: 0, deferred: 0 };
  parentPort.on('message', ({ kind, news }) => {
    if (kind === 'stop') return parentPort.close();
    seconds[news] += 1;
    parentPort.postMessage({ kind: 'stats', stats: {}, stageSeconds: seconds });
    if (left-- > 0) parentPort.postMessage({ kind: 'full-claim' });
  });`;

let threads: RatingThreads | undefined;
afterEach(() => threads?.stop());

/** Starts threads, and returns them with the notifications of each as text. */
function start(count: number, full: number): { threads: RatingThreads; seen: string[] } {
  const seen = Array.from({ length: count }, () => '');
  const events = {
    onBatchCommitted: () => {},
    onBatchEnded: () => {},
    onStats: (thread: number, _stats: PipelineStats, seconds: Readonly<Record<string, number>>) => {
      seen[thread] = JSON.stringify(seconds);
    },
    onUnexpectedExit: (reason: string) => expect.fail(reason),
  };
  const program = new URL(`data:text/javascript,${encodeURIComponent(script(full))}`);
  threads = new RatingThreads(count, DATA, events, program);
  return { threads, seen };
}

const notified = (news: object) => JSON.stringify({ appended: 0, waiting: 0, deferred: 0, ...news });

describe('rating threads', () => {
  it('leave work that one thread can do to the first', async () => {
    const started = start(3, 0);
    started.threads.notify();
    started.threads.notifyFound('waiting');
    await waitFor(() => started.seen[0] === notified({ appended: 1, waiting: 1 }));
    await started.threads.stop();
    expect(started.seen.slice(1)).toEqual(['', '']);
  });

  it('wake each other while claims are full', async () => {
    const started = start(3, 1);
    started.threads.notify();
    const once = notified({ waiting: 1 });
    await waitFor(() => started.seen[2] === once);
    expect(started.seen[1]).toBe(once);
    // The last one wakes the first again.
    await waitFor(() => started.seen[0] === notified({ appended: 1, waiting: 1 }));
  });

  it('all learn of deferred events', async () => {
    const started = start(2, 0);
    started.threads.notifyFound('deferred');
    await waitFor(() => started.seen.every((seen) => seen === notified({ deferred: 1 })));
  });
});

it('the young objects of several threads take a bounded part of the memory', () => {
  const gib = 1_024 ** 3;
  expect(youngGenerationMb(1, gib / 2)).toBe(192);
  expect(youngGenerationMb(4, 16 * gib)).toBe(192);
  expect(youngGenerationMb(4, 2 * gib)).toBe(102);
  expect(youngGenerationMb(8, gib)).toBe(48);
});

it('the metrics of several threads add up', async () => {
  const registry = createMetrics();
  const metrics = new PipelineMetrics(registry);
  const none = { failures: 0, claimed: 0, failed: 0, duplicate: 0, reprocessed: 0, skipped: 0, deferred: 0 };
  metrics.update(0, { ...none, batches: 1, processed: 10 }, { rate: 1 });
  metrics.update(1, { ...none, batches: 2, processed: 5 }, { rate: 2 });
  metrics.update(0, { ...none, batches: 4, processed: 40 }, { rate: 3 });
  metrics.update(1, { ...none, batches: 2, processed: 6 }, { rate: 2.5 });
  const text = await registry.metrics();
  expect(text).toContain('tollgate_pipeline_events_total{outcome="processed"} 46\n');
  expect(text).toContain('tollgate_pipeline_batches_total{outcome="committed"} 6\n');
  expect(text).toContain('tollgate_pipeline_stage_seconds_total{stage="rate"} 5.5\n');
});
