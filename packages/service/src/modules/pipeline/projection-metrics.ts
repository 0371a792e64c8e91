import type { Clock } from '../../kernel/clock.js';
import { Gauge, type Metrics } from '../../platform/metrics/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { endsWithin } from '../../platform/wait.js';
import { oldestUnprojectedMs } from './projector-store.js';

const MS_PER_SECOND = 1_000;
/** A database that does not respond must not delay the other metrics. */
const MEASURE_MS_MAX = 1_000;

export interface ProjectionMetricsDeps {
  readonly postgres: Pick<Postgres, 'pool'>;
  readonly clock: Clock;
}

/**
 * Adds the lag of ClickHouse behind PostgreSQL, over all projectors. It is measured whenever the metrics are read.
 * While PostgreSQL cannot be reached, the gauge keeps its last value, because the other metrics must still be readable.
 */
export function measureProjection(metrics: Metrics, { postgres, clock }: ProjectionMetricsDeps): void {
  new Gauge({
    name: 'tollgate_projection_oldest_seconds',
    help: 'For how long the oldest rated event that is not in ClickHouse yet has waited since it was received.',
    registers: [metrics],
    async collect() {
      const measure = async () => {
        const oldestMs = await oldestUnprojectedMs(postgres);
        const ageMs = oldestMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestMs);
        this.set(ageMs / MS_PER_SECOND);
      };
      await endsWithin(measure(), MEASURE_MS_MAX).catch(() => {});
    },
  });
}
