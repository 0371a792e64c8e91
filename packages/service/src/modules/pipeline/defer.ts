import type { ProjectRef } from '../../kernel/scope.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import type { Tx } from '../../platform/postgres/index.js';
import {
  type ClaimedSegment,
  EVENT_ID_BYTES,
  reprocessRecord,
  type SegmentQueue,
  type SegmentRecord,
} from '../../platform/queue/index.js';
import type { AcceptedGroup, BatchInput, FailedGroup } from './batch-input.js';
import {
  type EventReprocessRequest,
  type FailedEvent,
  failedEventBytes,
  type UnprojectedRows,
  unprojectedRows,
} from './batch-store.js';
import type { AcceptedEvent } from './event.js';

/** Upper bound of the events in one reprocess request that is put back: so many fit into a deferred segment. */
const REPROCESS_IDS_MAX = 100;
/**
 * Upper bound of the bytes that wait for the shared tables of ClickHouse, and of those that wait for the tables of
 * single projects. Without these bounds the disk would fill up while ClickHouse is down.
 */
const UNPROJECTED_BYTES_MAX = 4 * 1_024 ** 3;
/** Upper bound of the batches that wait for tables of single projects: a projector reads them all for each group. */
const OWN_BATCHES_MAX = 20_000;
/** Upper bound of the bytes that wait for the tables of a correction, which can wait, and leaves room to new events. */
const CORRECTION_BYTES_MAX = 256 * 1_048_576;

/** The tenants whose events must not be rated now, because too many rows wait for ClickHouse. */
export interface HeldBack {
  /** Nothing may be rated: the queue grows until ingest refuses events. */
  readonly isAll: boolean;
  /** These tenants hold more than their share of the rows for tables of single projects; their events are deferred. */
  readonly tenants: ReadonlySet<string>;
}

export async function readHeldBack(tx: Tx, bytesMax = UNPROJECTED_BYTES_MAX): Promise<HeldBack> {
  return heldBackBy(await unprojectedRows(tx), bytesMax);
}

/** Whether ClickHouse has kept up with the tables of a project, so that a correction may write rows. */
export async function mayWriteCorrections(
  tx: Tx,
  { tenantId, storage }: Pick<ProjectRef, 'tenantId' | 'storage'>,
): Promise<boolean> {
  const rows = await unprojectedRows(tx);
  const size = storage === 'shared' ? rows.shared : rows.ownOf.get(tenantId);
  if (size === undefined) return true;
  const { tenants } = heldBackBy(rows, UNPROJECTED_BYTES_MAX);
  return size.bytes < CORRECTION_BYTES_MAX && (storage === 'shared' || !tenants.has(tenantId));
}

/** Rows for tables of single projects are counted apart: one such table that is broken must not stop all others. */
function heldBackBy({ shared, ownOf }: UnprojectedRows, bytesMax: number): HeldBack {
  const own = [...ownOf];
  const bytesShare = tenantShare(
    own.reduce((sum, [, { bytes }]) => sum + bytes, 0),
    bytesMax,
  );
  const batchesShare = tenantShare(
    own.reduce((sum, [, { batches }]) => sum + batches, 0),
    OWN_BATCHES_MAX,
  );
  const isOver = ([, { bytes, batches }]: (typeof own)[number]) =>
    bytes >= bytesShare || batches >= batchesShare;
  return {
    isAll: shared.bytes >= bytesMax,
    tenants: new Set(own.filter(isOver).map(([tenantId]) => tenantId)),
  };
}

/** The tenants whose new requests are deferred. */
export interface DeferredTenants {
  /** Whether a tenant may have deferred requests, behind which its new ones must go. */
  readonly mayBeDeferred: boolean;
  /** Tenants of which nothing may be rated now; see `HeldBack`. */
  readonly heldBack: ReadonlySet<string>;
}

/**
 * Moves requests of tenants that have deferred requests behind those, unread. So a tenant's events keep their order,
 * and take no time of the batches that others wait for. Requests of tenants that are held back are deferred, too.
 *
 * @returns the other segments, and the number of moved events
 */
export async function moveBehindDeferred(
  tx: Tx,
  queue: Pick<SegmentQueue<Tx>, 'defer' | 'deferredAmong'>,
  segments: readonly ClaimedSegment[],
  { mayBeDeferred, heldBack }: DeferredTenants,
): Promise<{ readonly segments: readonly ClaimedSegment[]; readonly moved: number }> {
  const deferred = new Set(heldBack);
  if (mayBeDeferred) {
    const tenantIds = new Set(segments.flatMap(({ records }) => records.map(({ scope }) => scope.tenantId)));
    for (const tenantId of await queue.deferredAmong(tx, [...tenantIds])) deferred.add(tenantId);
  }
  if (deferred.size === 0) return { segments, moved: 0 };
  const isDeferred = ({ scope }: SegmentRecord) => deferred.has(scope.tenantId);
  const records = segments.flatMap((segment) => segment.records.filter(isDeferred));
  await queue.defer(tx, records);
  const others = segments.map((segment) => ({
    ...segment,
    records: segment.records.filter((record) => !isDeferred(record)),
  }));
  return { segments: others, moved: records.reduce((sum, { eventCount }) => sum + eventCount, 0) };
}

/** Upper bounds of the failed events that a batch reads back. */
export interface ReprocessBounds {
  readonly eventsMax: number;
  readonly bytesMax: number;
}

/**
 * Limits the failed events of the batch input to the bounds, but keeps at least one. A request contains only their ids,
 * so a small segment can name more events than fit into memory: the rest goes back to the queue for later batches.
 */
export async function deferReprocess(
  tx: Tx,
  putBack: (records: readonly SegmentRecord[]) => Promise<void>,
  batchInput: BatchInput,
  { eventsMax, bytesMax }: ReprocessBounds,
): Promise<BatchInput> {
  const { reprocess, oldestReceivedAtMs } = batchInput;
  if (reprocess.length === 0) return batchInput;
  let bytes = 0;
  let count = 0;
  for (const eventBytes of await failedEventBytes(tx, reprocess)) {
    bytes += eventBytes;
    if (count > 0 && (bytes > bytesMax || count >= eventsMax)) break;
    count++;
  }
  if (count === reprocess.length) return batchInput;
  const later = reprocess.slice(count);
  await putBack(reprocessRecords(later, oldestReceivedAtMs));
  return { ...batchInput, claimed: batchInput.claimed - later.length, reprocess: reprocess.slice(0, count) };
}

/** Joins the requests of each project into records of several. */
function reprocessRecords(requests: readonly EventReprocessRequest[], receivedAtMs: number): SegmentRecord[] {
  const byProject = new Map<number, EventReprocessRequest[]>();
  for (const request of requests) {
    const known = byProject.get(request.projectNo);
    if (known === undefined) byProject.set(request.projectNo, [request]);
    else known.push(request);
  }
  const records: SegmentRecord[] = [];
  for (const ofProject of byProject.values()) {
    for (let start = 0; start < ofProject.length; start += REPROCESS_IDS_MAX) {
      const some = ofProject.slice(start, start + REPROCESS_IDS_MAX);
      const [project] = some;
      const ids = some.map(({ idHex }) => idHex);
      if (project !== undefined) records.push(reprocessRecord(project, ids, receivedAtMs));
    }
  }
  return records;
}

/** Events that a batch has claimed but does not rate, because the events of their tenant have taken too long. */
export class DeferredEvents {
  /** Events whose ids must not be stored as rated. */
  readonly unrated: AcceptedEvent[] = [];
  /** Failed events that stay as they were; their reprocess requests go back to the queue. */
  readonly failures: FailedEvent[] = [];
  readonly #records: SegmentRecord[] = [];
  readonly #reprocess: EventReprocessRequest[] = [];
  readonly #whole = new Set<AcceptedGroup>();
  readonly #countByGroup = new Map<AcceptedGroup, number>();
  #count = 0;

  /** Number of deferred events and reprocess requests. */
  get count(): number {
    return this.#count;
  }

  /** Returns how many events of a request are deferred. */
  countOf(group: AcceptedGroup): number {
    return this.#countByGroup.get(group) ?? 0;
  }

  isWhole(group: AcceptedGroup): boolean {
    return this.#whole.has(group);
  }

  /** Defers a whole request; `newEvents` are those of its events that were not rated before. */
  addWhole(group: AcceptedGroup, newEvents: readonly AcceptedEvent[]): void {
    this.#records.push(group.record);
    this.#whole.add(group);
    this.#add(group, group.record.eventCount, newEvents);
  }

  /** Defers some events of a request, each as a request of its own. */
  addEvents(group: AcceptedGroup, events: readonly AcceptedEvent[]): void {
    const { record, body, ids } = group;
    for (const { index } of events) {
      this.#records.push({
        scope: { ...record.scope, kind: 'single' },
        receivedAtMs: record.receivedAtMs,
        eventCount: 1,
        ids: ids.subarray(index * EVENT_ID_BYTES, (index + 1) * EVENT_ID_BYTES),
        body: Buffer.from(body.storedText(index)),
      });
    }
    this.#add(group, events.length, events);
  }

  addFailed({ failed, request }: FailedGroup): void {
    this.failures.push(failed);
    this.#reprocess.push(request);
    this.#count += 1;
  }

  /** Returns everything that goes back to the queue. */
  records(receivedAtMs: number): SegmentRecord[] {
    return [...this.#records, ...reprocessRecords(this.#reprocess, receivedAtMs)];
  }

  #add(group: AcceptedGroup, count: number, unrated: readonly AcceptedEvent[]): void {
    for (const event of unrated) this.unrated.push(event);
    this.#countByGroup.set(group, this.countOf(group) + count);
    this.#count += count;
  }
}
