import type { Clock } from '../../kernel/clock.js';
import { totalBytes } from '../../platform/buffers.js';
import type { Tx } from '../../platform/postgres/index.js';
import type {
  ClaimedSegment,
  DeferredTurn,
  SegmentQueue,
  SegmentRecord,
} from '../../platform/queue/index.js';
import type { ThreadTime } from '../../platform/thread-time.js';
import type { Turns } from '../../platform/turns.js';
import { BatchCounters, type CounterMemory } from '../counters/index.js';
import { BatchPosting, type PostingCatalog } from '../limits/index.js';
import { addArrivals } from '../quotas/index.js';
import type { UsageBlock } from '../usage/index.js';
import { type BatchInput, type FailedGroup, readBatchInput } from './batch-input.js';
import type { BatchResult } from './batch-result.js';
import {
  addTotals,
  holdSpool,
  insertFailedEvents,
  insertUsageBatch,
  takeFailedEvents,
} from './batch-store.js';
import { deferReprocess, moveBehindDeferred, readHeldBack } from './defer.js';
import type { CarefulTurn } from './deferred-turns.js';
import { EventBody } from './event.js';
import { type EventIds, forgetEventIds } from './event-id-store.js';
import { BATCH_ALLOWANCE_MS, TURN_ALLOWANCE_MS } from './event-time.js';
import type { BatchCounts, BatchStage, PipelineObserver, StageClock } from './observer.js';
import { BatchRules, type RuleVersionSource } from './rating.js';
import type { Spool } from './spool.js';
import { runStages, type StagesInput } from './stages.js';

/** `attempt` is a UInt16 in ClickHouse; beyond it, the latest row still replaces the others. */
const ATTEMPT_MAX = 0xffff;

export interface BatchDeps {
  readonly queue: Pick<
    SegmentQueue<Tx>,
    'claim' | 'claimDeferred' | 'defer' | 'deferredAmong' | 'nextDeferred' | 'putBack'
  >;
  readonly rules: RuleVersionSource;
  readonly limits: PostingCatalog;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly observer: Pick<PipelineObserver, 'defect'>;
  /** Returns the shards whose segments this worker rates now (see `storedShardsOf`); default all. */
  readonly shards?: () => readonly number[];
}

/** Upper bound of the failed events that are read back at once: as many bytes as a claim takes of new events. */
const REPROCESS_BYTES_MAX = 64 * 1_048_576;

/** The source of a batch's events. */
export type BatchSource =
  /** `mayBeDeferred`: whether a tenant may have deferred requests, behind which its new ones must go. */
  | { readonly kind: 'new'; readonly mayBeDeferred: boolean }
  | { readonly kind: 'deferred'; readonly turn: DeferredTurn; readonly careful: CarefulTurn | undefined };

export interface BatchOptions {
  readonly source: BatchSource;
  readonly eventsMax: number;
  /** Default `REPROCESS_BYTES_MAX`. */
  readonly reprocessBytesMax?: number | undefined;
  /** See `readHeldBack`. */
  readonly unprojectedBytesMax?: number | undefined;
  /** Default `TENANT_ALERTS_MAX`. */
  readonly alertsMax?: number | undefined;
  /** Shared by all batches of this process. */
  readonly rollup: StagesInput['rollup'];
  /** Shared by all batches of the worker. */
  readonly eventIds: EventIds;
  /** Shared by all batches of the worker. */
  readonly counterMemory: () => CounterMemory;
  /** The block in which rows of shared tables are encoded; empty, and not used by other batches meanwhile. */
  readonly block: UsageBlock;
  readonly stages: StageClock<BatchStage>;
  readonly turns: Turns;
  /** Measures the time that events take. */
  readonly thread: ThreadTime;
  /** See `StagesInput`; shared by all batches of the worker that take new events. */
  readonly slowTenants: Set<string>;
  /** Tenants whose events may have made a batch fail: their new events are deferred. */
  readonly suspects: ReadonlySet<string>;
  /** Called as soon as the claim is known: another batch may start. */
  readonly onClaimed: (segments: readonly ClaimedSegment[]) => void;
}

/**
 * Runs one batch inside its transaction. It takes segments off the queue, and rates, posts, counts and spools their
 * events, or defers them: all of this or nothing. All workers lock in one order: segments, failed events, event ids,
 * counters, the spool, the posting locks and the posted rows, totals. Rows that batches share come last, because they
 * stay locked until the commit; counters cannot, because rows name their totals.
 *
 * @returns undefined when nothing could be claimed
 */
export async function processBatch(
  tx: Tx,
  deps: BatchDeps,
  options: BatchOptions,
): Promise<BatchCounts | undefined> {
  const { source, eventsMax, rollup, eventIds, block, stages, turns, thread, slowTenants } = options;
  const {
    suspects,
    onClaimed,
    reprocessBytesMax = REPROCESS_BYTES_MAX,
    unprojectedBytesMax,
    alertsMax,
  } = options;
  const heldBack = await readHeldBack(tx, unprojectedBytesMax);
  const claimed = heldBack.isAll ? [] : await claimFrom(tx, deps, source, eventsMax);
  onClaimed(claimed);
  const [oldest] = claimed;
  if (oldest === undefined) return undefined;
  for (const { problem } of claimed) if (problem !== undefined) deps.observer.defect(problem);
  const { segments, moved } =
    source.kind === 'new'
      ? await moveBehindDeferred(tx, deps.queue, claimed, {
          ...source,
          heldBack: new Set([...heldBack.tenants, ...suspects]),
        })
      : { segments: claimed, moved: 0 };
  const putBack = (records: readonly SegmentRecord[]) =>
    source.kind === 'new' ? deps.queue.putBack(tx, records) : deps.queue.defer(tx, records);
  const bounds = { eventsMax, bytesMax: reprocessBytesMax };
  const batchInput = await deferReprocess(tx, putBack, readBatchInput(segments), bounds);
  stages.end('claim');
  const processedAtMs = deps.clock.nowMs();
  const posting = new BatchPosting(tx, deps.limits, processedAtMs);
  const counters = new BatchCounters(tx, { kind: 'write', memory: options.counterMemory });
  const ofTurn =
    source.kind === 'new'
      ? { tenantMs: BATCH_ALLOWANCE_MS, careful: undefined }
      : { tenantMs: TURN_ALLOWANCE_MS, careful: source.careful };
  const result = await rateAndEncode(
    tx,
    deps,
    {
      ...{ batchInput, posting, counters, rollup, processedAtMs },
      ...{ block, turns, thread, slowTenants, alertsMax, ...ofTurn },
    },
    { eventIds, shard: oldest.shard },
    stages,
  );
  await deps.queue.defer(tx, result.deferred.records(batchInput.oldestReceivedAtMs));
  await forgetEventIds(tx, result.deferred.unrated);
  stages.end('rate');
  await insertFailedEvents(tx, result.failures);
  await counters.write();
  stages.end('failures');
  await storeRows(tx, deps, { ...batchInput, shard: oldest.shard }, result, stages);
  await posting.write(result.posting, () => stages.end('lock'));
  await result.alerts.write(tx, processedAtMs);
  stages.end('post');
  await addTotals(tx, result.totals.usageTotals(), result.totals.eventTotals(), result.totals.ingestTotals());
  await addArrivals(tx, result.taken);
  stages.end('totals');
  const { counts } = result;
  return { ...counts, claimed: counts.claimed + moved, deferred: counts.deferred + moved };
}

function claimFrom(
  tx: Tx,
  { queue, shards }: BatchDeps,
  source: BatchSource,
  eventsMax: number,
): Promise<ClaimedSegment[]> {
  if (source.kind === 'new') return queue.claim(tx, eventsMax, shards?.());
  return queue.claimDeferred(tx, source.turn, eventsMax);
}

export function eventCountOf(segments: readonly ClaimedSegment[]): number {
  return segments.reduce(
    (sum, { records }) => records.reduce((count, record) => count + record.eventCount, sum),
    0,
  );
}

/** Duplicates are left out before anything is parsed. */
async function rateAndEncode(
  tx: Tx,
  { rules, observer }: BatchDeps,
  input: Omit<StagesInput, 'again' | 'duplicates' | 'rules' | 'onDefect'>,
  { eventIds, shard }: { readonly eventIds: EventIds; readonly shard: number },
  stages: StageClock<BatchStage>,
): Promise<BatchResult> {
  const { batchInput } = input;
  const again = await takeAgain(tx, batchInput);
  const duplicates = await eventIds.record(
    tx,
    batchInput.groups.flatMap(({ events }) => events),
    shard,
  );
  stages.end('deduplicate');
  return runStages({
    ...input,
    again,
    duplicates,
    rules: new BatchRules(rules),
    onDefect: observer.defect,
  });
}

/** Takes the failed events to reprocess, as groups with the next attempt number. */
async function takeAgain(tx: Tx, { reprocess }: BatchInput): Promise<FailedGroup[]> {
  const taken = await takeFailedEvents(tx, reprocess);
  return Array.from(taken, ([request, stored]) => ({
    tenantId: stored.tenantId,
    projectId: stored.projectId,
    projectNo: request.projectNo,
    storage: request.storage,
    receivedAtMs: stored.receivedAtMs,
    attempt: Math.min(stored.attempt + 1, ATTEMPT_MAX),
    corrections: stored.corrections,
    correctionId: stored.correctionId,
    ids: Buffer.from(request.idHex, 'hex'),
    body: new EventBody(Buffer.from(stored.event), 'single', 1, stored.extractorRuleSetId),
    events: [{ projectNo: request.projectNo, idHex: request.idHex, index: 0 }],
    request,
    failed: stored,
  }));
}

async function storeRows(
  tx: Tx,
  { spool, clock }: BatchDeps,
  { oldestReceivedAtMs, shard }: Pick<BatchInput, 'oldestReceivedAtMs'> & { readonly shard: number },
  { sections }: BatchResult,
  stages: StageClock<BatchStage>,
): Promise<void> {
  if (sections.length === 0) return;
  await holdSpool(tx);
  const locations = await spool.put(sections.map(({ rows }) => rows));
  stages.end('spool');
  const ofBatch = { shard, createdAtMs: clock.nowMs(), oldestReceivedAtMs };
  for (const [index, { rows, ...section }] of sections.entries()) {
    const location = locations[index];
    if (location === undefined) throw new Error(`the spool has no place for section ${index}`);
    await insertUsageBatch(tx, {
      ...ofBatch,
      ...section,
      byteCount: totalBytes(rows),
      location,
      isCorrection: false,
    });
  }
}
