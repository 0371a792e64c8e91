import { setImmediate } from 'node:timers/promises';
import { type Decimal, toText } from '../../kernel/decimal.js';
import type { UsageEventRow, UsageItemRow } from '../usage/index.js';
import type { FailedEvent } from './batch-store.js';
import type { AcceptedEvent, Envelope } from './event.js';
import type { RuleSetRef, RuleVersion, RuleVersions } from './rules-port.js';

/** After so many events the thread is given back, so that sockets are served while a batch is rated. */
const SLICE_EVENTS = 1_000;
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
  occurredAt: 0,
  source: '',
  externalEventId: '',
  idempotencyKey: '',
  subject: undefined,
  budgetLeaseId: '',
  rawJson: null,
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

/** Hears of events that met a defect of ours. */
export type DefectListener = (error: unknown, event: AcceptedEvent) => void;

/**
 * Rates events into the rows that ClickHouse will hold, in their order. Never throws on account of an event: what
 * goes wrong becomes its failure.
 */
export async function rateEvents(
  events: readonly AcceptedEvent[],
  rules: RuleVersions,
  processedAtMs: number,
  onDefect: DefectListener,
): Promise<UsageEventRow[]> {
  const envelopes = await inSlices(events, (event) => {
    try {
      return event.body.envelope(event.index);
    } catch (error) {
      onDefect(error, event);
      return undefined;
    }
  });
  await rules.refresh(ruleSetsOf(events, envelopes));
  // All at once: another batch's refresh may drop rule sets as soon as the thread is given back.
  const versions = events.map((event, index) => versionOf(event, envelopes[index], rules));
  return inSlices(events, (event, index) => {
    const envelope = envelopes[index];
    if (envelope === undefined) {
      return rowOf(event, NO_ENVELOPE, failedWith(DEFECT, undefined), processedAtMs);
    }
    try {
      return rowOf(event, envelope, outcomeOf(event, envelope, versions[index]), processedAtMs);
    } catch (error) {
      onDefect(error, event);
      return rowOf(event, envelope, failedWith(DEFECT, envelope.subject), processedAtMs);
    }
  });
}

/** The row in place of one that ClickHouse cannot hold. */
export function defectRow(row: UsageEventRow): UsageEventRow {
  const { code, message, path } = DEFECT;
  return {
    ...row,
    status: 'failed',
    posting: 'none',
    dimensions: NO_DIMENSIONS,
    failureCode: code,
    failureMessage: message,
    failurePath: path,
    items: [],
  };
}

/** What is kept of an event whose row says that it failed. */
export function failedEventOf(event: AcceptedEvent, row: UsageEventRow): FailedEvent {
  return {
    tenantId: event.tenantId,
    projectId: event.projectId,
    idHex: event.idHex,
    occurredAt: row.occurredAt,
    receivedAtMs: event.receivedAtMs,
    extractorRuleSetId: row.extractorRuleSetId,
    failureCode: row.failureCode,
    attempt: event.attempt,
    event: event.body.storedText(event.index),
  };
}

async function inSlices<T, R>(values: readonly T[], step: (value: T, index: number) => R): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < values.length; start += SLICE_EVENTS) {
    const slice = values.slice(start, start + SLICE_EVENTS);
    for (const [offset, value] of slice.entries()) results.push(step(value, start + offset));
    await setImmediate();
  }
  return results;
}

function ruleSetsOf(
  events: readonly AcceptedEvent[],
  envelopes: readonly (Envelope | undefined)[],
): RuleSetRef[] {
  const seen = new Map<string, Set<string>>();
  const refs: RuleSetRef[] = [];
  for (const [index, { projectId }] of events.entries()) {
    const ruleSetId = envelopes[index]?.extractorRuleSetId;
    if (ruleSetId === undefined) continue;
    let ofProject = seen.get(projectId);
    if (ofProject === undefined) {
      ofProject = new Set();
      seen.set(projectId, ofProject);
    }
    if (ofProject.has(ruleSetId)) continue;
    ofProject.add(ruleSetId);
    refs.push({ projectId, ruleSetId });
  }
  return refs;
}

/** Everything about a row that is not told by its event and envelope. */
interface Outcome {
  readonly extractorVersion: number;
  readonly subject: Envelope['subject'];
  readonly dimensions: ReadonlyMap<string, string>;
  readonly items: readonly UsageItemRow[];
  readonly failure: Failure | undefined;
}

function versionOf(
  event: AcceptedEvent,
  envelope: Envelope | undefined,
  rules: RuleVersions,
): RuleVersion | undefined {
  if (envelope === undefined) return undefined;
  return rules.resolve(event.projectId, envelope.extractorRuleSetId, occurredAtOf(event));
}

function outcomeOf(event: AcceptedEvent, envelope: Envelope, version: RuleVersion | undefined): Outcome {
  const { subject, rawJson, occurredAt } = envelope;
  if (occurredAt !== occurredAtOf(event)) throw new Error('the event id tells another time than the event');
  if (version === undefined) return failedWith(NO_RULES, subject);
  const rated = version.rate({ rawJson, occurredAt, ...(subject && { subject }) });
  return {
    extractorVersion: version.version,
    subject: rated.subject,
    dimensions: asTexts(rated.dimensions),
    items: rated.ok ? rated.items : [],
    failure: rated.ok ? undefined : rated.failure,
  };
}

function failedWith(failure: Failure, subject: Envelope['subject']): Outcome {
  return { extractorVersion: 0, subject, dimensions: NO_DIMENSIONS, items: [], failure };
}

function rowOf(
  event: AcceptedEvent,
  envelope: Envelope,
  outcome: Outcome,
  processedAtMs: number,
): UsageEventRow {
  const { subject, items, failure } = outcome;
  return {
    tenantId: event.tenantId,
    projectId: event.projectId,
    rawEventId: event.id,
    occurredAt: occurredAtOf(event),
    attempt: event.attempt,
    receivedAtMs: event.receivedAtMs,
    processedAtMs,
    status: failure === undefined ? 'processed' : 'failed',
    posting: failure === undefined ? postingOf(items) : 'none',
    source: envelope.source,
    externalEventId: envelope.externalEventId,
    idempotencyKey: envelope.idempotencyKey,
    subjectType: subject?.type ?? '',
    subjectId: subject?.id ?? '',
    accountId: '',
    budgetLeaseId: envelope.budgetLeaseId,
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
  };
}

/** Usage that nothing prices is owed by nobody; priced usage waits for a route to an account. */
function postingOf(items: readonly UsageItemRow[]): 'unpriced' | 'unrouted' {
  return items.some(({ pricingSource }) => pricingSource !== 'unpriced') ? 'unrouted' : 'unpriced';
}

/** The first four bytes of an id are the time of its event, big-endian: known even where the body is unreadable. */
function occurredAtOf({ id }: AcceptedEvent): number {
  return (((id[0] ?? 0) << 24) | ((id[1] ?? 0) << 16) | ((id[2] ?? 0) << 8) | (id[3] ?? 0)) >>> 0;
}

function asTexts(dimensions: ReadonlyMap<string, Decimal | string | boolean>): ReadonlyMap<string, string> {
  for (const value of dimensions.values()) {
    if (typeof value !== 'string') {
      return new Map(Array.from(dimensions, ([name, dimension]) => [name, dimensionText(dimension)]));
    }
  }
  return dimensions as ReadonlyMap<string, string>;
}

function dimensionText(value: Decimal | string | boolean): string {
  return typeof value === 'object' ? toText(value) : String(value);
}
