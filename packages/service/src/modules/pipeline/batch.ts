import type { Clock } from '../../kernel/clock.js';
import { totalBytes } from '../../platform/buffers.js';
import type { Tx } from '../../platform/postgres/index.js';
import type { SegmentQueue } from '../../platform/queue/index.js';
import { BatchPosting, type PostingCatalog } from '../limits/index.js';
import type { UsageBlock } from '../usage/index.js';
import { addArrivals } from './arrival-store.js';
import { arrivalsOf } from './arrivals.js';
import { BatchRules, type Rules } from './batch-rules.js';
import {
  addTotals,
  holdSpool,
  insertFailedEvents,
  insertUsageBatch,
  takeFailedEvents,
  unprojectedBytes,
} from './batch-store.js';
import { deferReprocess } from './defer.js';
import { EventBody, type EventGroup } from './event.js';
import type { EventIds } from './event-id-store.js';
import { type Intake, readIntake } from './intake.js';
import type { BatchCounts, BatchStage, PipelineObserver, StageClock } from './observer.js';
import { type BatchPlan, type PlanInput, planBatch } from './plan.js';
import type { Spool } from './spool.js';

/** `attempt` is a UInt16 in ClickHouse; past it the latest row still wins there. */
const ATTEMPT_MAX = 0xffff;

export interface BatchDeps {
  readonly queue: Pick<SegmentQueue<Tx>, 'claim' | 'putBack'>;
  readonly rules: Rules;
  readonly limits: PostingCatalog;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly observer: Pick<PipelineObserver, 'defect'>;
}

/**
 * While so much waits for ClickHouse, nothing more is rated: the queue grows instead, until ingest refuses. Without this bound a
 * ClickHouse that is away would fill the disk.
 */
const UNPROJECTED_BYTES_MAX = 4 * 1_024 ** 3;
/** As many bytes of failed events are read back at once as a claim takes of new ones. */
const REPROCESS_BYTES_MAX = 64 * 1_048_576;

export interface BatchOptions {
  readonly eventsMax: number;
  /** Default `REPROCESS_BYTES_MAX`. */
  readonly reprocessBytesMax?: number | undefined;
  /** Default `UNPROJECTED_BYTES_MAX`. */
  readonly unprojectedBytesMax?: number | undefined;
  /** Of all batches of this process. */
  readonly rollup: PlanInput['rollup'];
  /** Of all batches of the worker. */
  readonly eventIds: EventIds;
  /** Where the rows of shared tables are encoded: empty, and the batch has it to itself. */
  readonly block: UsageBlock;
  readonly stages: StageClock<BatchStage>;
  /** Told as soon as the claim is known: another batch may begin. */
  readonly onClaimed: (events: number) => void;
}

/**
 * One batch, inside its transaction: takes segments off the queue and leaves, all or nothing, their events rated,
 * posted, counted and on their way to ClickHouse. All workers lock in one order: segments, failed events, event ids, the
 * spool, the turn to post and what that locks, totals. What batches share comes last, because it is waited for until the commit.
 *
 * @returns undefined when nothing could be claimed
 */
export async function processBatch(
  tx: Tx,
  deps: BatchDeps,
  options: BatchOptions,
): Promise<BatchCounts | undefined> {
  const { eventsMax, rollup, eventIds, block, stages, onClaimed } = options;
  const { reprocessBytesMax = REPROCESS_BYTES_MAX, unprojectedBytesMax = UNPROJECTED_BYTES_MAX } = options;
  const isHeldBack = (await unprojectedBytes(tx)) >= unprojectedBytesMax;
  const segments = isHeldBack ? [] : await deps.queue.claim(tx, eventsMax);
  const claimed = readIntake(segments);
  onClaimed(claimed.claimed);
  if (segments.length === 0) return undefined;
  for (const { problem } of segments) if (problem !== undefined) deps.observer.defect(problem);
  const intake = await deferReprocess(tx, deps.queue, claimed, reprocessBytesMax);
  stages.end('claim');
  const processedAtMs = deps.clock.nowMs();
  const posting = new BatchPosting(tx, deps.limits, processedAtMs);
  const plan = await ratePlan(tx, deps, { intake, posting, rollup, processedAtMs, block }, eventIds, stages);
  stages.end('rate');
  await insertFailedEvents(tx, plan.failures);
  stages.end('failures');
  await storeRows(tx, deps, intake, plan, stages);
  await posting.write();
  await plan.alerts.write(tx, processedAtMs);
  stages.end('post');
  await addTotals(tx, plan.totals.usageTotals(), plan.totals.eventTotals(), plan.totals.ingestTotals());
  await addArrivals(tx, arrivalsOf(intake.groups));
  stages.end('totals');
  return plan.counts;
}

/** Duplicates are left out before anything is parsed. */
async function ratePlan(
  tx: Tx,
  { rules, observer }: BatchDeps,
  planned: Pick<PlanInput, 'intake' | 'posting' | 'rollup' | 'processedAtMs' | 'block'>,
  eventIds: EventIds,
  stages: StageClock<BatchStage>,
): Promise<BatchPlan> {
  const { intake } = planned;
  const again = await takeAgain(tx, intake);
  const duplicates = await eventIds.record(
    tx,
    intake.groups.flatMap(({ events }) => events),
  );
  stages.end('deduplicate');
  return planBatch({
    ...planned,
    again,
    duplicates,
    rules: new BatchRules(rules),
    onDefect: observer.defect,
  });
}

/** The failed events to rate anew, as events of one more attempt. */
async function takeAgain(tx: Tx, { reprocess }: Intake): Promise<EventGroup[]> {
  const taken = await takeFailedEvents(tx, reprocess);
  return Array.from(taken, ([{ projectNo, storage, idHex }, stored]) => ({
    tenantId: stored.tenantId,
    projectId: stored.projectId,
    projectNo,
    storage,
    receivedAtMs: stored.receivedAtMs,
    attempt: Math.min(stored.attempt + 1, ATTEMPT_MAX),
    ids: Buffer.from(idHex, 'hex'),
    body: new EventBody(Buffer.from(stored.event), 'single', 1, stored.extractorRuleSetId),
    events: [{ projectNo, idHex, index: 0 }],
  }));
}

async function storeRows(
  tx: Tx,
  { spool, clock }: BatchDeps,
  { oldestReceivedAtMs }: Intake,
  { sections }: BatchPlan,
  stages: StageClock<BatchStage>,
): Promise<void> {
  if (sections.length === 0) return;
  await holdSpool(tx);
  const locations = await spool.put(sections.map(({ rows }) => rows));
  stages.end('spool');
  const times = { createdAtMs: clock.nowMs(), oldestReceivedAtMs };
  for (const [index, { rows, ...section }] of sections.entries()) {
    const location = locations[index];
    if (location === undefined) throw new Error(`the spool has no place for section ${index}`);
    await insertUsageBatch(tx, { ...times, ...section, byteCount: totalBytes(rows), location });
  }
}
