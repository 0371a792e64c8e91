import { EVENT_ID_BYTES } from '../../platform/queue/index.js';
import { dimensionTexts, type RatingInput } from '../rules/index.js';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';
import type { BatchRules } from './batch-rules.js';
import type { FailedEvent } from './batch-store.js';
import type { AcceptedEvent, Envelope, EventGroup } from './event.js';

/** The event met a defect of ours, and not of its rules: it is kept, and can be reprocessed. */
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
/** Of an event whose body cannot be read. */
const NO_ENVELOPE: Envelope = {
  extractorRuleSetId: '',
  source: '',
  externalEventId: '',
  idempotencyKey: '',
  budgetLeaseId: '',
  input: { rawJson: null, occurredAt: 0 },
  rawJsonText: '',
  metadata: '',
  xBilling: '',
};
const NO_DIMENSIONS: ReadonlyMap<string, string> = new Map();

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly path: string;
}

/** Hears of what met a defect of ours: an event, or, without one, a segment that cannot be read. */
export type DefectListener = (error: unknown, event?: AcceptedEvent) => void;

/** The event's envelope; undefined when its body cannot be read. */
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

/**
 * Rates one event into its row of `usage_events`. Never throws on account of the event: what goes wrong becomes its
 * failure.
 */
export function rateEvent(
  group: EventGroup,
  event: AcceptedEvent,
  envelope: Envelope | undefined,
  rules: BatchRules,
  processedAtMs: number,
  onDefect: DefectListener,
): UsageEventRow {
  if (envelope === undefined) {
    return rowOf(group, event, NO_ENVELOPE, failedWith(DEFECT, undefined), processedAtMs);
  }
  let outcome: Outcome;
  try {
    outcome = outcomeOf(group, event, envelope, rules);
  } catch (error) {
    onDefect(error, event);
    outcome = failedWith(DEFECT, envelope.input.subject);
  }
  return rowOf(group, event, envelope, outcome, processedAtMs);
}

/** The row in place of one that ClickHouse cannot hold. */
export function defectRow(row: UsageEventRow): UsageEventRow {
  const { code, message, path } = DEFECT;
  return {
    ...row,
    status: 'failed',
    posting: 'none',
    leaseStatus: 'none',
    dimensions: NO_DIMENSIONS,
    failureCode: code,
    failureMessage: message,
    failurePath: path,
    items: [],
    itemTransactionIds: [],
  };
}

/** What is kept of an event whose row says that it failed. */
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

/** Everything about a row that is not told by its event and envelope. */
interface Outcome {
  readonly extractorVersion: number;
  readonly subject: RatingInput['subject'];
  readonly dimensions: ReadonlyMap<string, string>;
  readonly items: readonly UsageItemRow[];
  readonly failure: Failure | undefined;
}

function outcomeOf(group: EventGroup, event: AcceptedEvent, envelope: Envelope, rules: BatchRules): Outcome {
  const { extractorRuleSetId, input } = envelope;
  const { occurredAt, subject } = input;
  if (occurredAt !== occurredAtOf(group, event)) {
    throw new Error('the event id tells another time than the event');
  }
  const version = rules.resolve(group.projectId, extractorRuleSetId, occurredAt);
  if (version === undefined) return failedWith(NO_RULES, subject);
  const rated = version.rate(input);
  return {
    extractorVersion: version.version,
    subject: rated.subject,
    dimensions: dimensionTexts(rated.dimensions),
    items: rated.ok ? rated.items : [],
    failure: rated.ok ? undefined : rated.failure,
  };
}

function failedWith(failure: Failure, subject: RatingInput['subject']): Outcome {
  return { extractorVersion: 0, subject, dimensions: NO_DIMENSIONS, items: [], failure };
}

function rowOf(
  group: EventGroup,
  event: AcceptedEvent,
  envelope: Envelope,
  outcome: Outcome,
  processedAtMs: number,
): UsageEventRow {
  const { subject, items, failure } = outcome;
  const idAt = event.index * EVENT_ID_BYTES;
  return {
    tenantId: group.tenantId,
    projectId: group.projectId,
    rawEventId: group.ids.subarray(idAt, idAt + EVENT_ID_BYTES),
    occurredAt: occurredAtOf(group, event),
    attempt: group.attempt,
    receivedAtMs: group.receivedAtMs,
    processedAtMs,
    status: failure === undefined ? 'processed' : 'failed',
    posting: failure === undefined ? postingOf(items) : 'none',
    source: envelope.source,
    externalEventId: envelope.externalEventId,
    idempotencyKey: envelope.idempotencyKey,
    subjectType: subject?.type ?? '',
    subjectId: subject?.id ?? '',
    subjectIsSent: envelope.input.subject !== undefined,
    accountId: '',
    budgetLeaseId: envelope.budgetLeaseId,
    leaseStatus: 'none',
    extractorRuleSetId: envelope.extractorRuleSetId,
    extractorVersion: outcome.extractorVersion,
    dimensions: outcome.dimensions,
    failureCode: failure?.code ?? '',
    failureMessage: failure?.message ?? '',
    failurePath: failure?.path ?? '',
    rawJson: envelope.rawJsonText,
    metadata: envelope.metadata,
    xBilling: envelope.xBilling,
    items,
    itemTransactionIds: [],
  };
}

/** Usage that nothing prices is owed by nobody; priced usage waits for a route to an account. */
function postingOf(items: readonly UsageItemRow[]): 'unpriced' | 'unrouted' {
  return items.some(({ pricingSource }) => pricingSource !== 'unpriced') ? 'unrouted' : 'unpriced';
}

/** The first four bytes of an id are the time of its event: known even where the body is unreadable. */
function occurredAtOf({ ids }: EventGroup, { index }: AcceptedEvent): number {
  return ids.readUInt32BE(index * EVENT_ID_BYTES);
}
