import { systemClock } from '../kernel/clock.js';
import type { IngestService } from '../modules/ingest/index.js';
import { addReadGauge, type Metrics } from '../platform/metrics/index.js';

const MS_PER_SECOND = 1_000;

/**
 * Adds the metrics of events that wait to be rated, in the queue of all processes.
 *
 * @param eventsMax how many may wait before ingest refuses more
 */
export function measureBacklog(
  metrics: Metrics,
  ingest: Pick<IngestService, 'backlog'>,
  eventsMax: number,
): void {
  addReadGauge(
    metrics,
    'tollgate_queue_events_max',
    'Maximum number of accepted events that may wait; beyond it ingest returns 503.',
    () => eventsMax,
  );
  addReadGauge(
    metrics,
    'tollgate_queue_events',
    'Accepted events that wait to be rated.',
    () => ingest.backlog.events,
  );
  addReadGauge(
    metrics,
    'tollgate_queue_deferred_events',
    'Accepted events that are deferred because of slow rules or unwritable tables of their tenant.',
    () => ingest.backlog.deferredEvents,
  );
  addReadGauge(
    metrics,
    'tollgate_queue_segments',
    'Segments that wait to be rated.',
    () => ingest.backlog.segments,
  );
  addReadGauge(
    metrics,
    'tollgate_queue_bytes',
    'Bytes of the segments that wait to be rated.',
    () => ingest.backlog.bytes,
  );
  addReadGauge(
    metrics,
    'tollgate_queue_oldest_seconds',
    'For how long the oldest segment has waited.',
    () => {
      const { oldestReceivedAtMs } = ingest.backlog;
      if (oldestReceivedAtMs === undefined) return 0;
      return Math.max(0, systemClock.nowMs() - oldestReceivedAtMs) / MS_PER_SECOND;
    },
  );
}
