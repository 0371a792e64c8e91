import { Counter, Gauge, type Metrics } from '../../../platform/metrics/index.js';

/** A queue of this process, as its metrics show it. */
export interface MeasuredQueue {
  readonly depth: number;
  readonly oldestAgeMs: number;
  /** Counted since the process started. */
  readonly refusedCount: number;
  readonly failedCount: number;
}

/** Registers the metrics of queues, labelled by name. */
export function measureQueues(metrics: Metrics, queues: Readonly<Record<string, MeasuredQueue>>): void {
  const named = Object.entries(queues);
  const options = (name: string, help: string) => ({
    name,
    help,
    labelNames: ['queue'],
    registers: [metrics],
  });
  const gauge = (name: string, help: string, read: (queue: MeasuredQueue) => number) =>
    new Gauge({
      ...options(name, help),
      collect() {
        for (const [queue, measured] of named) this.set({ queue }, read(measured));
      },
    });
  const counter = (name: string, help: string, read: (queue: MeasuredQueue) => number) =>
    new Counter({
      ...options(name, help),
      collect() {
        this.reset();
        for (const [queue, measured] of named) this.inc({ queue }, read(measured));
      },
    });
  gauge(
    'tollgate_limit_requests_waiting',
    'Requests for leases, limit status and wallets that wait in this process.',
    ({ depth }) => depth,
  );
  gauge(
    'tollgate_limit_requests_oldest_seconds',
    'Time for which the oldest of these requests has waited.',
    ({ oldestAgeMs }) => oldestAgeMs / 1_000,
  );
  counter(
    'tollgate_limit_requests_refused_total',
    'Requests that were refused because too many waited.',
    ({ refusedCount }) => refusedCount,
  );
  counter(
    'tollgate_limit_requests_failed_total',
    'Requests that failed with their whole group, for example because the database is down.',
    ({ failedCount }) => failedCount,
  );
}

/** Registers the metric of reads that were answered from memory or from the database. */
export function measureReads(
  metrics: Metrics,
  { answerCounts }: { readonly answerCounts: Readonly<Record<'memory' | 'database', number>> },
): void {
  new Counter({
    name: 'tollgate_limit_reads_total',
    help: 'Reads of limits and wallets for checks and snapshots, by where the answer was found.',
    labelNames: ['source'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const [source, count] of Object.entries(answerCounts)) this.inc({ source }, count);
    },
  });
}
