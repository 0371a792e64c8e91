import { Counter, Gauge, type Metrics } from '../../../platform/metrics/index.js';

/** What waits in a queue of this process, and what became of it. */
export interface MeasuredQueue {
  readonly depth: number;
  readonly oldestAgeMs: number;
  /** So far. */
  readonly refusedCount: number;
  readonly failedCount: number;
}

/** Tells of queues by name. */
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
    'Requests for leases, and looks at limits and wallets, that this process has not answered yet.',
    ({ depth }) => depth,
  );
  gauge(
    'tollgate_limit_requests_oldest_seconds',
    'For how long the oldest of them has waited.',
    ({ oldestAgeMs }) => oldestAgeMs / 1_000,
  );
  counter(
    'tollgate_limit_requests_refused_total',
    'Those that were refused because too many waited.',
    ({ refusedCount }) => refusedCount,
  );
  counter(
    'tollgate_limit_requests_failed_total',
    'Those that failed with their whole group, as when the database is away.',
    ({ failedCount }) => failedCount,
  );
}
