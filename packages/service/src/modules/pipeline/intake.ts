import { type ClaimedSegment, EVENT_ID_BYTES, type SegmentRecord } from '../../platform/queue/index.js';
import { type AcceptedEvent, EventBody } from './event.js';
import { compareText } from './totals.js';

const ID_HEX_CHARS = EVENT_ID_BYTES * 2;

/** A request to rate a failed event anew. */
export interface ReprocessRequest {
  readonly tenantId: string;
  readonly projectId: string;
  readonly projectNo: number;
  readonly idHex: string;
  readonly receivedAtMs: number;
}

/** What the claimed segments ask for, each event once. */
export interface Intake {
  /** Events that the segments hold, repetitions included. */
  readonly claimed: number;
  /** Sorted by project and id, so that all workers meet the rows of the id index in one order. */
  readonly events: readonly AcceptedEvent[];
  /** Events whose id the same batch holds already. */
  readonly repeated: readonly AcceptedEvent[];
  /** Sorted likewise. */
  readonly reprocess: readonly ReprocessRequest[];
  /** Requests for an event that the same batch asks for already. */
  readonly repeatedReprocess: number;
  readonly oldestReceivedAtMs: number;
}

/** Reads frames only: ids come before any body is parsed, so that the database can look for duplicates meanwhile. */
export function readIntake(segments: readonly ClaimedSegment[]): Intake {
  const events = new Distinct<AcceptedEvent>();
  const reprocess = new Distinct<ReprocessRequest>();
  let claimed = 0;
  let oldestReceivedAtMs = Number.POSITIVE_INFINITY;
  for (const { records } of segments) {
    for (const record of records) {
      claimed += record.eventCount;
      oldestReceivedAtMs = Math.min(oldestReceivedAtMs, record.receivedAtMs);
      if (record.scope.kind === 'reprocess') addReprocess(record, reprocess);
      else addEvents(record, record.scope.kind, events);
    }
  }
  return {
    claimed,
    events: events.sorted(),
    repeated: events.repeated,
    reprocess: reprocess.sorted(),
    repeatedReprocess: reprocess.repeated.length,
    oldestReceivedAtMs,
  };
}

function addEvents(record: SegmentRecord, kind: 'single' | 'batch', into: Distinct<AcceptedEvent>): void {
  const { scope, ids, eventCount, receivedAtMs } = record;
  const { tenantId, projectId, projectNo } = scope;
  const body = new EventBody(record.body, kind, eventCount, scope.extractorRuleSetId);
  const hex = ids.toString('hex');
  for (let index = 0; index < eventCount; index++) {
    const idHex = hex.substring(index * ID_HEX_CHARS, (index + 1) * ID_HEX_CHARS);
    const id = ids.subarray(index * EVENT_ID_BYTES, (index + 1) * EVENT_ID_BYTES);
    into.add({ tenantId, projectId, projectNo, id, idHex, receivedAtMs, attempt: 0, body, index });
  }
}

function addReprocess(record: SegmentRecord, into: Distinct<ReprocessRequest>): void {
  const { tenantId, projectId, projectNo } = record.scope;
  const hex = record.ids.toString('hex');
  for (let at = 0; at < hex.length; at += ID_HEX_CHARS) {
    const idHex = hex.substring(at, at + ID_HEX_CHARS);
    into.add({ tenantId, projectId, projectNo, idHex, receivedAtMs: record.receivedAtMs });
  }
}

/** Keeps the first of every (project, id). */
class Distinct<T extends { readonly projectNo: number; readonly idHex: string }> {
  readonly repeated: T[] = [];
  readonly #byProject = new Map<number, Map<string, T>>();

  add(value: T): void {
    let known = this.#byProject.get(value.projectNo);
    if (known === undefined) {
      known = new Map();
      this.#byProject.set(value.projectNo, known);
    }
    if (known.has(value.idHex)) this.repeated.push(value);
    else known.set(value.idHex, value);
  }

  sorted(): T[] {
    const projects = [...this.#byProject].sort(([a], [b]) => a - b);
    return projects.flatMap(([, known]) => [...known.values()].sort((a, b) => compareText(a.idHex, b.idHex)));
  }
}
