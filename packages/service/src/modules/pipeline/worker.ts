import { type Postgres, transaction } from '../../platform/postgres/index.js';
import { pause, retryPauseMs, Wakeup } from '../../platform/wakeup.js';
import { addRawOnlyDimensions, rawOnlyDimensions } from '../storage/index.js';
import { UsageBlock } from '../usage/index.js';
import { type BatchDeps, processBatch } from './batch.js';
import { EventIds } from './event-id-store.js';
import { type BatchCounts, type BatchStage, type PipelineObserver, StageClock } from './observer.js';
import { RollupDimensions } from './rollup-dimensions.js';
import { sweepSpool } from './sweep.js';

const BATCH_EVENTS_MAX = 20_000;
/** Under light load events are gathered for so long: tiny batches cost more than they hold. */
const LINGER_MS = 120;
/** How long segments of another process may wait to be noticed. */
const IDLE_POLL_MS = 200;
/** Batches in hand at once: while the database works on one, this thread works on the other. */
const LANES = 2;

const CONNECTIONS_PER_LANE = 2;

export interface PipelineWorkerOptions {
  readonly batchEventsMax?: number;
  /** Bytes of failed events that one batch reads back. */
  readonly reprocessBytesMax?: number;
  readonly lingerMs?: number;
  readonly lanes?: number;
  /** Bytes that may wait for ClickHouse before rating pauses. */
  readonly unprojectedBytesMax?: number;
}

export interface PipelineWorkerDeps extends BatchDeps {
  readonly postgres: Postgres;
  readonly observer: PipelineObserver;
  /** Told after each commit that left rows for ClickHouse. */
  readonly onCommitted: () => void;
}

/** Sums since the start. */
export type PipelineStats = { [K in keyof BatchCounts | 'batches' | 'failures']: number };

/** Rates what the queue holds. Any number may work on one database, in any number of processes. */
export interface PipelineWorker {
  /** Works until `signal` aborts, then ends after the batches in hand; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Says that a segment was appended. */
  notify(): void;
  /** Rates all that can be claimed now, without lingering or retrying; rejects when a batch fails. */
  drain(): Promise<void>;
  stats(): Readonly<PipelineStats>;
}

export function createPipelineWorker(
  deps: PipelineWorkerDeps,
  options: PipelineWorkerOptions = {},
): PipelineWorker {
  return new LaneWorker(deps, options);
}

class LaneWorker implements PipelineWorker {
  readonly #eventsMax: number;
  readonly #lingerMs: number;
  readonly #lanes: number;
  readonly #reprocessBytesMax: number | undefined;
  readonly #unprojectedBytesMax: number | undefined;
  readonly #wakeup = new Wakeup();
  readonly #rollup: RollupDimensions;
  readonly #eventIds = new EventIds();
  readonly #stats: PipelineStats = {
    batches: 0,
    failures: 0,
    claimed: 0,
    processed: 0,
    failed: 0,
    duplicate: 0,
    reprocessed: 0,
    skipped: 0,
  };
  /** Ends when the lane whose turn it is has claimed. */
  #turn: Promise<void> = Promise.resolve();
  /** Whether the last claim left events behind, as far as it can be told. */
  #lastClaim: 'full' | 'partial' | 'empty' = 'full';

  constructor(
    private readonly deps: PipelineWorkerDeps,
    options: PipelineWorkerOptions,
  ) {
    const {
      batchEventsMax = BATCH_EVENTS_MAX,
      lingerMs = LINGER_MS,
      lanes = LANES,
      reprocessBytesMax,
      unprojectedBytesMax,
    } = options;
    this.#eventsMax = batchEventsMax;
    this.#lingerMs = lingerMs;
    this.#lanes = lanes;
    this.#reprocessBytesMax = reprocessBytesMax;
    this.#unprojectedBytesMax = unprojectedBytesMax;
    this.#rollup = new RollupDimensions({
      store: {
        load: (projectIds) => rawOnlyDimensions(deps.postgres.db, projectIds),
        add: (dimensions) => addRawOnlyDimensions(deps.postgres.db, dimensions),
      },
      nowMs: () => performance.now(),
    });
    // A batch holds one connection and reads rules on another: with fewer, batches would wait for each other for ever.
    const connectionsMin = lanes * CONNECTIONS_PER_LANE;
    if ((deps.postgres.pool.options.max ?? 0) < connectionsMin) {
      throw new RangeError(`${lanes} batches at once need ${connectionsMin} connections`);
    }
  }

  notify(): void {
    this.#wakeup.notify();
  }

  stats(): Readonly<PipelineStats> {
    return this.#stats;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#sweepUntilDone(signal);
    await Promise.all(Array.from({ length: this.#lanes }, () => this.#lane(signal)));
  }

  async drain(): Promise<void> {
    const block = new UsageBlock();
    while ((await this.#batch(block, () => {})) !== undefined);
  }

  async #lane(signal: AbortSignal): Promise<void> {
    const block = new UsageBlock();
    let failures = 0;
    while (!signal.aborted) {
      const endTurn = await this.#takeTurn();
      try {
        await this.#gather(signal);
        if (!signal.aborted) await this.#batch(block, endTurn);
        failures = 0;
      } catch (error) {
        endTurn();
        this.#stats.failures++;
        this.deps.observer.batchFailed(error);
        await pause(retryPauseMs(++failures), signal);
        // The failed transaction may have left a file that no row points at.
        await this.#sweepUntilDone(signal);
      } finally {
        endTurn();
      }
    }
  }

  /** Waits for the other lanes to have claimed; they may go on when the returned function is called. */
  async #takeTurn(): Promise<() => void> {
    const before = this.#turn;
    let endTurn = () => {};
    this.#turn = new Promise((resolve) => {
      endTurn = resolve;
    });
    await before;
    return endTurn;
  }

  /** Waits until a claim is worth its transaction: at once when the last one was full. */
  async #gather(signal: AbortSignal): Promise<void> {
    if (this.#lastClaim === 'full') return;
    const isNews = this.#lastClaim === 'partial' || (await this.#wakeup.wait(IDLE_POLL_MS, signal));
    if (isNews) await pause(this.#lingerMs, signal);
  }

  async #batch(block: UsageBlock, endTurn: () => void): Promise<BatchCounts | undefined> {
    const { postgres, observer, onCommitted } = this.deps;
    const started = performance.now();
    const stages = new StageClock<BatchStage>((stage, durationMs) => observer.stage(stage, durationMs));
    const onClaimed = (events: number) => {
      this.#lastClaim = events === 0 ? 'empty' : events * 2 > this.#eventsMax ? 'full' : 'partial';
      endTurn();
    };
    const options = {
      eventsMax: this.#eventsMax,
      reprocessBytesMax: this.#reprocessBytesMax,
      unprojectedBytesMax: this.#unprojectedBytesMax,
      rollup: this.#rollup,
      eventIds: this.#eventIds,
      block,
      stages,
      onClaimed,
    };
    const counts = await transaction(postgres, (tx) => processBatch(tx, this.deps, options)).finally(() =>
      block.clear(),
    );
    if (counts === undefined) return undefined;
    stages.end('commit');
    this.#stats.batches++;
    for (const name of Object.keys(counts) as (keyof BatchCounts)[]) this.#stats[name] += counts[name];
    observer.batch(counts, performance.now() - started);
    onCommitted();
    return counts;
  }

  async #sweepUntilDone(signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        return await sweepSpool(this.deps.postgres, this.deps.spool);
      } catch (error) {
        this.deps.observer.batchFailed(error);
        await pause(retryPauseMs(failures), signal);
      }
    }
  }
}
