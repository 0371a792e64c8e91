import type { EndedWork } from '../../platform/tracing/index.js';
import type { DefectListener } from './rating.js';
import type { SpoolCorruptError } from './spool.js';

/** The steps of one batch, in order. */
const BATCH_STAGES = [
  'claim',
  'deduplicate',
  'rate',
  'failures',
  'spool',
  'lock',
  'post',
  'totals',
  'commit',
] as const;
export type BatchStage = (typeof BATCH_STAGES)[number];

/** The steps of one projected group, in order. */
const PROJECTION_STAGES = ['group', 'read', 'record', 'insert', 'delete', 'unlink'] as const;
export type ProjectionStage = (typeof PROJECTION_STAGES)[number];

/** The counts of one committed batch. */
export interface BatchCounts {
  /** Events in the claimed segments; the sum of the other six. */
  readonly claimed: number;
  readonly processed: number;
  readonly failed: number;
  readonly duplicate: number;
  /** Failed events that were rated again, with any result. */
  readonly reprocessed: number;
  /** Reprocess requests whose event was not failed any more. */
  readonly skipped: number;
  /** Events that went back to the queue, behind others of their tenant. */
  readonly deferred: number;
}

/**
 * Why a worker is notified: segments were appended now; waiting segments were found, which other processes may have
 * appended a while ago; or deferred segments were found.
 */
export type SegmentNews = 'appended' | 'waiting' | 'deferred';

/** Reports the work of the worker; every method must be quick and must not throw. */
export interface PipelineObserver {
  stage(stage: BatchStage, durationMs: number): void;
  batch(counts: BatchCounts, durationMs: number): void;
  batchFailed(error: unknown): void;
  /** Takes each batch that was committed or has failed, with its stages; default: nobody does. */
  ended?(work: EndedWork): void;
  /** An event met a bug of this service and is stored as failed, or a segment cannot be read and is set aside. */
  readonly defect: DefectListener;
}

/** Reports the work of the projector. */
export interface ProjectorObserver {
  stage(stage: ProjectionStage, durationMs: number): void;
  /** @param ageMs the time since the oldest event of the group was received; all can be queried now */
  group(events: number, durationMs: number, ageMs: number): void;
  groupFailed(error: unknown): void;
  /** As `PipelineObserver.ended`, for groups. */
  ended?(work: EndedWork): void;
  /** A spooled batch is missing or damaged: its events are not in ClickHouse. */
  spoolCorrupt(error: SpoolCorruptError): void;
}

/** Measures consecutive stages. */
export class StageClock<Stage extends string> {
  readonly #report: (stage: Stage, durationMs: number) => void;
  readonly #stages: { readonly stage: Stage; readonly durationMs: number }[] = [];
  readonly #startMs = performance.now();
  #last = this.#startMs;

  constructor(report: (stage: Stage, durationMs: number) => void) {
    this.#report = report;
  }

  /** Ends the current stage. */
  end(stage: Stage): void {
    const now = performance.now();
    const durationMs = now - this.#last;
    this.#last = now;
    this.#stages.push({ stage, durationMs });
    this.#report(stage, durationMs);
  }

  /** Returns the whole work, which ends now. */
  ended(counts: EndedWork['counts'], error?: unknown): EndedWork {
    const errorType = error === undefined ? undefined : error instanceof Error ? error.name : 'unknown';
    return { durationMs: performance.now() - this.#startMs, stages: this.#stages, counts, errorType };
  }
}
