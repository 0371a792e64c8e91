import { type ClaimedSegment, EVENT_ID_BYTES, type SegmentRecord } from '../../platform/queue/index.js';
import type { EventReprocessRequest, FailedEvent } from './batch-store.js';
import { type AcceptedEvent, EventBody, type EventGroup } from './event.js';

/**
 * Upper bound of the events that go through the stages at once: their parsed bodies stay in memory until they are
 * encoded.
 */
const SLICE_EVENTS = 500;
const ID_HEX_CHARS = EVENT_ID_BYTES * 2;

/** The events of an accepted request. */
export interface AcceptedGroup extends EventGroup {
  readonly record: SegmentRecord;
}

/** A failed event that is reprocessed. */
export interface FailedGroup extends EventGroup {
  readonly request: EventReprocessRequest;
  readonly failed: FailedEvent;
}

export type BatchGroup = AcceptedGroup | FailedGroup;

/** The events of a group that were not rated before. */
export interface NewEvents {
  readonly group: BatchGroup;
  readonly events: readonly AcceptedEvent[];
}

/** The contents of the claimed segments, each event once. */
export interface BatchInput {
  /** Number of events in the segments, repeated ones included. */
  readonly claimed: number;
  readonly groups: readonly AcceptedGroup[];
  /** For each event whose id occurs earlier in the same batch, the request that repeats it. */
  readonly repeated: readonly AcceptedGroup[];
  readonly reprocess: readonly EventReprocessRequest[];
  /** Number of requests to reprocess an event that the same batch reprocesses already. */
  readonly repeatedReprocess: number;
  readonly oldestReceivedAtMs: number;
}

/**
 * Reads the frames of segments and the ids of their events. No body is parsed here, so that duplicates are never
 * parsed.
 */
export function readBatchInput(segments: readonly ClaimedSegment[]): BatchInput {
  const reader = new BatchInputReader();
  for (const { records } of segments) for (const record of records) reader.add(record);
  return reader;
}

/**
 * Splits groups into slices of whole groups. A slice may contain several groups, because a group is often a single
 * event, and routes are looked up once for each slice.
 */
export function* slicesOf(
  groups: readonly BatchGroup[],
  duplicates: ReadonlySet<AcceptedEvent>,
): Generator<readonly NewEvents[]> {
  let slice: NewEvents[] = [];
  let count = 0;
  for (const group of groups) {
    const events = group.events.filter((event) => !duplicates.has(event));
    slice.push({ group, events });
    count += events.length;
    if (count < SLICE_EVENTS) continue;
    yield slice;
    slice = [];
    count = 0;
  }
  if (slice.length > 0) yield slice;
}

class BatchInputReader implements BatchInput {
  claimed = 0;
  repeatedReprocess = 0;
  oldestReceivedAtMs = Number.POSITIVE_INFINITY;
  readonly groups: AcceptedGroup[] = [];
  readonly repeated: AcceptedGroup[] = [];
  readonly reprocess: EventReprocessRequest[] = [];
  readonly #eventIds = new SeenIds();
  readonly #reprocessIds = new SeenIds();

  add(record: SegmentRecord): void {
    this.claimed += record.eventCount;
    this.oldestReceivedAtMs = Math.min(this.oldestReceivedAtMs, record.receivedAtMs);
    const { kind } = record.scope;
    if (kind === 'reprocess') this.#addReprocess(record);
    else this.#addEvents(record, kind);
  }

  #addEvents(record: SegmentRecord, kind: 'single' | 'batch'): void {
    const { scope, ids, eventCount, receivedAtMs } = record;
    const { tenantId, projectId, projectNo, storage } = scope;
    const body = new EventBody(record.body, kind, eventCount, scope.extractorRuleSetId);
    const events: AcceptedEvent[] = [];
    const place = { tenantId, projectId, projectNo, storage, receivedAtMs };
    const first = { attempt: 0, corrections: 0, correctionId: '' };
    const group: AcceptedGroup = { ...place, ...first, ids, body, events, record };
    this.groups.push(group);
    const seen = this.#eventIds.of(projectNo);
    for (const [index, idHex] of hexIds(ids).entries()) {
      if (isNew(seen, idHex)) events.push({ projectNo, idHex, index });
      else this.repeated.push(group);
    }
  }

  #addReprocess({ scope, ids }: SegmentRecord): void {
    const { tenantId, projectId, projectNo, storage } = scope;
    const seen = this.#reprocessIds.of(projectNo);
    for (const idHex of hexIds(ids)) {
      if (isNew(seen, idHex)) this.reprocess.push({ tenantId, projectId, projectNo, storage, idHex });
      else this.repeatedReprocess++;
    }
  }
}

/** Ids are unique within a project only. */
class SeenIds {
  readonly #byProject = new Map<number, Set<string>>();

  of(projectNo: number): Set<string> {
    let seen = this.#byProject.get(projectNo);
    if (seen === undefined) {
      seen = new Set();
      this.#byProject.set(projectNo, seen);
    }
    return seen;
  }
}

function isNew(seen: Set<string>, idHex: string): boolean {
  const before = seen.size;
  return seen.add(idHex).size > before;
}

function hexIds(ids: Buffer): string[] {
  const hex = ids.toString('hex');
  const texts: string[] = [];
  for (let at = 0; at < hex.length; at += ID_HEX_CHARS) texts.push(hex.substring(at, at + ID_HEX_CHARS));
  return texts;
}
