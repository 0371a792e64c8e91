import { EVENT_ID_BYTES } from '../../platform/queue/index.js';
import { NOT_POSTED, type PostedFields, type RatedUsage } from '../limits/index.js';
import { dimensionTexts, type RatingNote, type RuleVersion, ratingInput } from '../rules/index.js';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';
import type { FailedEvent } from './batch-store.js';
import type { AcceptedEvent, Envelope, EventGroup } from './event.js';

/** The event met a bug of this service, not of its rules: it is stored and can be reprocessed. */
const DEFECT: Failure = {
  code: 'processing_failed',
  message: 'The event could not be processed; reprocess it later.',
  path: '',
};
const NO_RULES: Failure = {
  code: 'rule_set_not_published',
  message: 'The rule set has no published version.',
  path: 'extractor_rule_set_id',
};
/** The envelope of an event whose body cannot be read. */
const NO_ENVELOPE: Envelope = {
  extractorRuleSetId: '',
  source: '',
  externalEventId: '',
  idempotencyKey: '',
  budgetLeaseId: '',
  facts: { occurredAt: 0 },
  rawJsonText: '',
  metadata: '',
  xBilling: '',
};
const NO_DIMENSIONS: ReadonlyMap<string, string> = new Map();
const NO_ITEMS: readonly UsageItemRow[] = [];
const NO_NOTES: readonly RatingNote[] = [];

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly path: string;
}

/**
 * Called with the error of an event that met a bug of this service or, without an event, of a segment that cannot be
 * read.
 */
export type DefectListener = (error: unknown, event?: AcceptedEvent) => void;

/** Returns the event's envelope; undefined when its body cannot be read. */
export function readEnvelope(
  group: EventGroup,
  event: AcceptedEvent,
  onDefect: DefectListener,
): Envelope | undefined {
  try {
    return group.body.envelope(event.index);
  } catch (error) {
    onDefect(error, event);
    return undefined;
  }
}

/** A rated event, or the reason why it could not be rated. */
export interface BatchEvent extends RatedUsage {
  readonly envelope: Envelope;
  readonly extractorVersion: number;
  readonly failure: Failure | undefined;
  readonly notes: readonly RatingNote[];
}

export function isProcessed({ failure }: BatchEvent): boolean {
  return failure === undefined;
}

/**
 * Rates one event. Never throws because of the event: an error becomes its failure.
 *
 * @param version active when the event occurred; undefined when none was ever published
 */
export function rateBatchEvent(
  group: EventGroup,
  event: AcceptedEvent,
  envelope: Envelope | undefined,
  version: RuleVersion | undefined,
  onDefect: DefectListener,
): BatchEvent {
  if (envelope === undefined) return failedWith(group, event, NO_ENVELOPE, DEFECT);
  try {
    return outcomeOf(group, event, envelope, version);
  } catch (error) {
    onDefect(error, event);
    return failedWith(group, event, envelope, DEFECT);
  }
}

/** Returns the row of a failed event in place of a row that ClickHouse cannot store. */
export function defectRow(row: UsageEventRow): UsageEventRow {
  const { code, message, path } = DEFECT;
  return {
    ...row,
    status: 'failed',
    ...NOT_POSTED,
    dimensions: NO_DIMENSIONS,
    excludedDimensions: [],
    notes: '',
    failureCode: code,
    failureMessage: message,
    failurePath: path,
    items: [],
  };
}

/** Returns the failed event to store for a row that says so. */
export function failedEventOf(group: EventGroup, event: AcceptedEvent, row: UsageEventRow): FailedEvent {
  return {
    tenantId: group.tenantId,
    projectId: group.projectId,
    idHex: event.idHex,
    occurredAt: row.occurredAt,
    receivedAtMs: group.receivedAtMs,
    extractorRuleSetId: row.extractorRuleSetId,
    failureCode: row.failureCode,
    attempt: group.attempt,
    event: group.body.storedText(event.index),
  };
}

function outcomeOf(
  group: EventGroup,
  event: AcceptedEvent,
  envelope: Envelope,
  version: RuleVersion | undefined,
): BatchEvent {
  const { facts, budgetLeaseId } = envelope;
  const { occurredAt } = facts;
  if (occurredAt !== occurredAtOf(group, event)) {
    throw new Error('the time in the event id differs from occurred_at');
  }
  if (version === undefined) return failedWith(group, event, envelope, NO_RULES);
  const rated = version.rate(ratingInput(facts, group.body.rawJson(event.index, version.reads)));
  return {
    envelope,
    occurredAt,
    extractorVersion: version.version,
    subject: rated.subject,
    dimensions: dimensionTexts(rated.dimensions),
    items: rated.ok ? rated.items : NO_ITEMS,
    budgetLeaseId,
    failure: rated.ok ? undefined : rated.failure,
    notes: rated.ok ? rated.notes : NO_NOTES,
  };
}

function failedWith(
  group: EventGroup,
  event: AcceptedEvent,
  envelope: Envelope,
  failure: Failure,
): BatchEvent {
  return {
    envelope,
    occurredAt: occurredAtOf(group, event),
    extractorVersion: 0,
    subject: envelope.facts.subject,
    dimensions: NO_DIMENSIONS,
    items: NO_ITEMS,
    budgetLeaseId: envelope.budgetLeaseId,
    failure,
    notes: NO_NOTES,
  };
}

/** Returns the row of `usage_events`. */
export function rowOf(
  group: EventGroup,
  event: AcceptedEvent,
  rated: BatchEvent,
  posted: PostedFields,
  excludedDimensions: readonly string[],
  processedAtMs: number,
): UsageEventRow {
  const { envelope, subject, failure } = rated;
  const idAt = event.index * EVENT_ID_BYTES;
  return {
    tenantId: group.tenantId,
    projectId: group.projectId,
    rawEventId: group.ids.subarray(idAt, idAt + EVENT_ID_BYTES),
    occurredAt: rated.occurredAt,
    attempt: group.attempt,
    receivedAtMs: group.receivedAtMs,
    processedAtMs,
    status: failure === undefined ? 'processed' : 'failed',
    posting: posted.posting,
    source: envelope.source,
    externalEventId: envelope.externalEventId,
    idempotencyKey: envelope.idempotencyKey,
    subjectType: subject?.type ?? '',
    subjectId: subject?.id ?? '',
    subjectIsSent: envelope.facts.subject !== undefined,
    accountId: posted.accountId,
    budgetLeaseId: envelope.budgetLeaseId,
    leaseStatus: posted.leaseStatus,
    extractorRuleSetId: envelope.extractorRuleSetId,
    extractorVersion: rated.extractorVersion,
    dimensions: rated.dimensions,
    excludedDimensions,
    failureCode: failure?.code ?? '',
    failureMessage: failure?.message ?? '',
    failurePath: failure?.path ?? '',
    rawJson: envelope.rawJsonText,
    metadata: envelope.metadata,
    xBilling: envelope.xBilling,
    notes: rated.notes.length === 0 ? '' : JSON.stringify(rated.notes),
    items: rated.items,
    itemTransactionIds: posted.itemTransactionIds,
  };
}

/**
 * Returns the time of the event. It is the first four bytes of its id, so it is known even when the body is unreadable.
 */
function occurredAtOf({ ids }: EventGroup, { index }: AcceptedEvent): number {
  return ids.readUInt32BE(index * EVENT_ID_BYTES);
}
