import type { Clock } from '../../kernel/clock.js';
import type { Logger } from '../../platform/log/index.js';
import { Gauge, type Metrics } from '../../platform/metrics/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { createSweepJob, type SweepJob } from '../../platform/sweep-job.js';
import { measureProgress } from './turn-store.js';

export interface CorrectionProgressDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly metrics: Metrics;
}

const POLL_MS = 10_000;

/**
 * Creates the job that measures the progress of corrections. It is a job of its own, because the one that does their
 * steps is busy for as long as a step is due, and may be the one that hangs. A sweep returns the number of corrections
 * in progress.
 */
export function createCorrectionProgressJob(deps: CorrectionProgressDeps): SweepJob {
  const { postgres, clock, log, metrics } = deps;
  const registers = [metrics];
  const open = new Gauge({
    name: 'tollgate_corrections_in_progress',
    help: 'Corrections that are planned, applied or reverted, at the last measurement.',
    registers,
  });
  const oldest = new Gauge({
    name: 'tollgate_corrections_oldest_step_seconds',
    help: 'Time for which one of these corrections has made no step.',
    registers,
  });
  return createSweepJob({
    sweep: async () => {
      const nowMs = clock.nowMs();
      const { count, oldestStepMs } = await measureProgress(postgres);
      open.set(count);
      oldest.set(Math.max(0, nowMs - (oldestStepMs ?? nowMs)) / 1_000);
      return count;
    },
    pollMs: POLL_MS,
    log,
    failureMessage: 'could not measure the progress of corrections; will try again',
  });
}
