import { EVENT_ID_BYTES } from '../../platform/queue/index.js';
import type { RatedUsage } from '../limits/index.js';
import {
  type CountingEvent,
  dimensionTexts,
  type RatedEvent,
  type RatingNote,
  type RuleSetRef,
  type RulesOverTime,
  type RuleVersion,
  ratingInput,
} from '../rules/index.js';
import type { UsageItemRow } from '../usage/index.js';
import type { CarefulTurn } from './deferred-turns.js';
import type { AcceptedEvent, Envelope, EventGroup } from './event.js';
import type { StageTime } from './event-time.js';

/** The event met a bug of this service, not of its rules: it is stored and can be reprocessed. */
export const DEFECT: Failure = {
  code: 'processing_failed',
  message: 'The event could not be processed; reprocess it later.',
  path: '',
};
/** No version of the event's rule set was ever published. */
export const NOT_PUBLISHED: Failure = {
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

/** Why an event could not be rated. */
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

export interface GroupRating {
  readonly rules: BatchRules;
  readonly onDefect: DefectListener;
  readonly careful?: CarefulTurn | undefined;
  readonly time: StageTime;
  /** Whether no more events of a group's tenant may be rated. */
  readonly isOver: (group: Pick<EventGroup, 'tenantId'>) => boolean;
}

/** Rates the events of a group, until it is over; returns their results. */
export async function rateGroup(
  group: EventGroup,
  events: readonly AcceptedEvent[],
  { rules, onDefect, careful, time, isOver }: GroupRating,
): Promise<BatchEvent[]> {
  const { tenantId, projectId } = group;
  const envelopes = events.map((event) => readEnvelope(group, event, onDefect));
  await rules.prepare(projectId, new Set(envelopes.flatMap((known) => known?.extractorRuleSetId ?? [])));
  const tenantTime = time.of(tenantId);
  const rated: BatchEvent[] = [];
  for (const [index, event] of events.entries()) {
    if (isOver(group)) break;
    const envelope = envelopes[index];
    const version = envelope && rules.at(projectId, envelope.extractorRuleSetId, envelope.facts.occurredAt);
    const known = version instanceof Promise ? await version : version;
    time.start();
    rated.push(
      careful?.begin(event) === true
        ? givenUp(group, event, envelope, onDefect)
        : rateBatchEvent(group, event, envelope, known, onDefect),
    );
    if (time.end(tenantTime)) await time.pause();
  }
  return rated;
}

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
  /** The rest of the rating, for an event whose price depends on counters; then there are no charge items yet. */
  readonly counting: CountingEvent | undefined;
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

/** Returns an event as failed, because it makes its batch fail. */
function givenUp(
  group: EventGroup,
  event: AcceptedEvent,
  envelope: Envelope | undefined,
  onDefect: DefectListener,
): BatchEvent {
  onDefect(new Error('no batch with this event succeeds'), event);
  return failedWith(group, event, envelope ?? NO_ENVELOPE, DEFECT);
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
  if (version === undefined) return failedWith(group, event, envelope, NOT_PUBLISHED);
  const rated = version.rate(ratingInput(facts, group.body.rawJson(event.index, version.reads)));
  return {
    envelope,
    occurredAt,
    extractorVersion: version.version,
    subject: rated.subject,
    dimensions: dimensionTexts(rated.dimensions),
    budgetLeaseId,
    ...resultOf(rated),
  };
}

type RatingResult = Pick<BatchEvent, 'items' | 'failure' | 'notes' | 'counting'>;

function resultOf(rated: RatedEvent | CountingEvent): RatingResult {
  if (rated.ok === undefined)
    return { items: NO_ITEMS, failure: undefined, notes: NO_NOTES, counting: rated };
  const { items, notes } = rated.ok ? rated : { items: NO_ITEMS, notes: NO_NOTES };
  return { items, failure: rated.ok ? undefined : rated.failure, notes, counting: undefined };
}

/** Returns the event with the result of its counters. */
export function withCounters(event: BatchEvent, rated: RatedEvent): BatchEvent {
  const { items, notes } = rated.ok ? rated : { items: NO_ITEMS, notes: NO_NOTES };
  // Each field is named: spreading the event would take several times as long.
  return {
    envelope: event.envelope,
    occurredAt: event.occurredAt,
    extractorVersion: event.extractorVersion,
    subject: event.subject,
    dimensions: event.dimensions,
    budgetLeaseId: event.budgetLeaseId,
    items,
    failure: rated.ok ? undefined : rated.failure,
    notes,
    counting: undefined,
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
    counting: undefined,
  };
}

/**
 * Returns the time of the event. It is the first four bytes of its id, so it is known even when the body is unreadable.
 */
function occurredAtOf({ ids }: EventGroup, { index }: AcceptedEvent): number {
  return ids.readUInt32BE(index * EVENT_ID_BYTES);
}

type PublishedRules = Pick<RulesOverTime<RuleVersion>, 'at'>;

/** The methods of the rule catalog that a worker uses. */
export interface RuleVersionSource {
  refresh(refs: readonly RuleSetRef[]): Promise<readonly (RuleSetRef & { readonly rules: PublishedRules })[]>;
}

/** The rules as one batch sees them: each rule set is refreshed once, when the batch first needs it. */
export class BatchRules {
  readonly #rules: RuleVersionSource;
  readonly #rulesByProject = new Map<string, Map<string, PublishedRules | undefined>>();

  constructor(rules: RuleVersionSource) {
    this.#rules = rules;
  }

  /** Loads these rule sets for `at`. */
  async prepare(projectId: string, ruleSetIds: ReadonlySet<string>): Promise<void> {
    let known = this.#rulesByProject.get(projectId);
    if (known === undefined) {
      known = new Map();
      this.#rulesByProject.set(projectId, known);
    }
    const missing: RuleSetRef[] = [];
    for (const ruleSetId of ruleSetIds) if (!known.has(ruleSetId)) missing.push({ projectId, ruleSetId });
    if (missing.length === 0) return;
    const found = await this.#rules.refresh(missing);
    for (const { ruleSetId } of missing) known.set(ruleSetId, undefined);
    for (const { ruleSetId, rules } of found) known.set(ruleSetId, rules);
  }

  /**
   * Returns the active version at `occurredAt` (Unix seconds), nearly always without waiting; undefined when none was
   * ever published.
   */
  at(
    projectId: string,
    ruleSetId: string,
    occurredAt: number,
  ): RuleVersion | undefined | Promise<RuleVersion> {
    return this.#rulesByProject.get(projectId)?.get(ruleSetId)?.at(occurredAt);
  }
}
