import type { PipelineStats, ProjectorObserver } from '../modules/pipeline/index.js';
import type { Logger } from '../platform/log/index.js';
import { Counter, Histogram, type Metrics } from '../platform/metrics/index.js';
import type { Tracing } from '../platform/tracing/index.js';

const GROUP_SECONDS_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const QUERYABLE_SECONDS_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
const OUTCOMES = ['processed', 'failed', 'duplicate', 'reprocessed', 'skipped', 'deferred'] as const;

type StageSeconds = Readonly<Record<string, number>>;

/** Publishes the work of the rating threads as metrics of the process. */
export class PipelineMetrics {
  readonly #events: Counter<'outcome'>;
  readonly #batches: Counter<'outcome'>;
  readonly #stages: Counter<'stage'>;
  /** The last report of each thread. */
  readonly #previous: { readonly stats: PipelineStats; readonly stageSeconds: StageSeconds }[] = [];

  constructor(metrics: Metrics) {
    this.#events = new Counter({
      name: 'tollgate_pipeline_events_total',
      help: 'Events that the worker has processed, by outcome.',
      labelNames: ['outcome'],
      registers: [metrics],
    });
    this.#batches = new Counter({
      name: 'tollgate_pipeline_batches_total',
      help: 'Batches of the worker: committed, or failed and tried again.',
      labelNames: ['outcome'],
      registers: [metrics],
    });
    this.#stages = new Counter({
      name: 'tollgate_pipeline_stage_seconds_total',
      help: 'Time that the worker spent in each stage of its batches.',
      labelNames: ['stage'],
      registers: [metrics],
    });
  }

  /**
   * @param thread counted from 0
   * @param stats sums since the thread began
   */
  update(thread: number, stats: PipelineStats, stageSeconds: StageSeconds): void {
    const previous = this.#previous[thread];
    const rise = (name: keyof PipelineStats) => stats[name] - (previous?.stats[name] ?? 0);
    for (const outcome of OUTCOMES) this.#events.inc({ outcome }, rise(outcome));
    this.#batches.inc({ outcome: 'committed' }, rise('batches'));
    this.#batches.inc({ outcome: 'failed' }, rise('failures'));
    for (const [stage, seconds] of Object.entries(stageSeconds)) {
      this.#stages.inc({ stage }, seconds - (previous?.stageSeconds[stage] ?? 0));
    }
    this.#previous[thread] = { stats, stageSeconds: { ...stageSeconds } };
  }
}

/** Counts, logs and traces what the projector does. */
export function observeProjection(metrics: Metrics, log: Logger, tracing?: Tracing): ProjectorObserver {
  const events = new Counter({
    name: 'tollgate_projector_events_total',
    help: 'Events copied into ClickHouse.',
    registers: [metrics],
  });
  const seconds = new Histogram({
    name: 'tollgate_projector_group_seconds',
    help: 'Time to copy one group of batches into ClickHouse.',
    buckets: GROUP_SECONDS_BUCKETS,
    registers: [metrics],
  });
  const queryableSeconds = new Histogram({
    name: 'tollgate_event_queryable_seconds',
    help: 'Time from the arrival of an event until it can be queried, for the oldest event of each group.',
    buckets: QUERYABLE_SECONDS_BUCKETS,
    registers: [metrics],
  });
  const stages = new Counter({
    name: 'tollgate_projector_stage_seconds_total',
    help: 'Time that the projector spent in each stage of its groups.',
    labelNames: ['stage'],
    registers: [metrics],
  });
  const failures = new Counter({
    name: 'tollgate_projector_failures_total',
    help: 'Groups that could not be copied and will be tried again, by reason.',
    labelNames: ['reason'],
    registers: [metrics],
  });
  return {
    stage: (stage, durationMs) => stages.inc({ stage }, durationMs / 1_000),
    ...(tracing && { ended: (work) => tracing.record('project group', work) }),
    group(count, durationMs, ageMs) {
      events.inc(count);
      seconds.observe(durationMs / 1_000);
      queryableSeconds.observe(ageMs / 1_000);
    },
    groupFailed(error) {
      failures.inc({ reason: 'error' });
      log.warn({ err: error }, 'a group could not be copied into ClickHouse and will be tried again');
    },
    spoolCorrupt(error) {
      failures.inc({ reason: 'corrupt' });
      log.error({ err: error }, 'a rated batch is damaged on disk: its events are not in ClickHouse');
    },
  };
}
