import type { Clock } from '../../kernel/clock.js';
import { addReadGauge, Counter, Gauge, type Metrics } from '../../platform/metrics/index.js';
import type { ExpiredHistory } from './expiry.js';

/** Metrics of the deletion of expired history. */
export class RetentionObserver {
  /** When a process last finished a sweep; null when none ever did. */
  sweptAtMs: number | null = null;
  readonly failures: Counter;
  readonly #failedEvents: Counter;
  readonly #partitions: Counter;
  readonly #deletions: Counter;
  readonly #stuck: Gauge;

  constructor(metrics: Metrics, clock: Clock) {
    const registers = [metrics];
    addReadGauge(
      metrics,
      'tollgate_retention_age_seconds',
      'Time since all history was last looked through for what has expired.',
      () => (this.sweptAtMs === null ? 0 : (clock.nowMs() - this.sweptAtMs) / 1_000),
    );
    this.failures = new Counter({
      name: 'tollgate_retention_failures_total',
      help: 'Failed attempts to delete expired history; they are repeated.',
      registers,
    });
    this.#failedEvents = new Counter({
      name: 'tollgate_retention_failed_events_total',
      help: 'Failed events that were deleted because they had expired.',
      registers,
    });
    this.#partitions = new Counter({
      name: 'tollgate_retention_partitions_total',
      help: 'Months of tables of one project that were dropped because they had expired.',
      registers,
    });
    this.#deletions = new Counter({
      name: 'tollgate_retention_deletions_total',
      help: 'Months of shared tables from which expired rows were deleted.',
      registers,
    });
    this.#stuck = new Gauge({
      name: 'tollgate_retention_stuck_tables',
      help: 'Tables in which a deletion has failed, at the last measurement.',
      registers,
    });
  }

  count(failedEvents: number, { partitionsDropped, deletions, stuck }: ExpiredHistory): void {
    this.#failedEvents.inc(failedEvents);
    this.#partitions.inc(partitionsDropped);
    this.#deletions.inc(deletions);
    this.#stuck.set(stuck.length);
  }
}
