import type { BatchIngest, BatchIngestItem, ErrorCode, IngestEvent } from '@tollgate/contract';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { rawEventHex } from '../../kernel/id.js';
import type { ProjectRef } from '../../kernel/scope.js';
import type { Backlog, SegmentKind, SegmentQueue } from '../../platform/queue/index.js';
import type { RequestSpan } from '../../platform/tracing/index.js';
import type { EventAdmission, EventEntitlement, EventQuotas } from '../quotas/index.js';
import type { Publication, RuleSetPublications } from '../rules/index.js';
import { BacklogGate, type Scheduler, timerScheduler } from './backlog-gate.js';
import { GroupCommit, type MovingTenants } from './group-commit.js';
import { EventCheck, Findings } from './validate.js';

export interface IngestDeps {
  readonly queue: Pick<SegmentQueue<never>, 'backlog' | 'tenantsHolding'>;
  readonly quotas: Pick<EventQuotas, 'appendWithinQuota'>;
  readonly publications: Pick<RuleSetPublications, 'isKnownPublished' | 'read'>;
  readonly clock: Clock;
  readonly admission: EventAdmission;
  /** Refuses events of tenants that are moving to another cell: `check` throws a DomainError. */
  readonly moving?: MovingTenants | undefined;
  readonly scheduler?: Scheduler;
  readonly backlogEventsMax?: number;
  readonly backlogBytesMax?: number;
  readonly pendingBytesMax?: number;
}

/** For each rule set that takes no events, the error of a single event, and what is wrong with that of a batch. */
const REFUSALS = {
  absent: { code: 'rule_set_not_found', finding: 'expected a rule set of this project' },
  unpublished: {
    code: 'rule_set_not_published',
    finding: 'expected a published rule set; this one is a draft or archived',
  },
} as const satisfies Record<Exclude<Publication, 'published'>, { code: ErrorCode; finding: string }>;

/**
 * Accepts events: checks them, gives them ids and makes them durable; everything else follows after the response. The
 * checks run in this order: backlog, the tenant's plan, the events in their order, their rule sets in order of first
 * use, and with the write the tenant's quota.
 */
export class IngestService {
  readonly #deps: IngestDeps;
  readonly #gate: BacklogGate;
  readonly #commit: GroupCommit;

  constructor(deps: IngestDeps) {
    this.#deps = deps;
    const {
      queue,
      quotas,
      moving,
      scheduler = timerScheduler,
      backlogEventsMax,
      backlogBytesMax,
      pendingBytesMax,
    } = deps;
    this.#gate = new BacklogGate({
      queue,
      scheduler,
      ...(backlogEventsMax === undefined ? {} : { eventsMax: backlogEventsMax }),
      ...(backlogBytesMax === undefined ? {} : { bytesMax: backlogBytesMax }),
    });
    this.#commit = new GroupCommit({
      quotas,
      moving,
      ...(pendingBytesMax === undefined ? {} : { pendingBytesMax }),
    });
  }

  /** The queue as last measured, for metrics. */
  get backlog(): Backlog {
    return this.#gate.backlog;
  }

  /**
   * Refuses requests while the queue is full, before their body is parsed. The check is repeated with the events, which
   * may take a while to arrive.
   *
   * @throws DomainError `ingest_backlog_full`, `tenant_moving`
   */
  checkRoom({ tenantId }: ProjectRef): void {
    const refusal = this.#deps.moving?.refusalOf(tenantId);
    if (refusal !== undefined) throw refusal;
    this.#gate.check(tenantId);
  }

  /** Whether some more stored events of a tenant may be queued, to be rated again. */
  hasRoomToReprocess({ tenantId }: ProjectRef): Promise<boolean> {
    return this.#gate.hasRoomToReprocess(tenantId);
  }

  /**
   * Resolves to the 32 hex digits of the event's id once the event is durable.
   *
   * @param event valid by the schema; parsed from `rawBody`
   */
  async acceptSingle(
    project: ProjectRef,
    ruleSetId: string,
    event: IngestEvent,
    rawBody: Buffer,
    span?: RequestSpan,
  ): Promise<string> {
    const entitlement = await this.#eventEntitlementOf(project);
    new EventCheck(event, rawBody, entitlement.window, this.#deps.clock).single(event);
    const { publications } = this.#deps;
    if (!publications.isKnownPublished(project, ruleSetId)) {
      const publication = (await publications.read(project, [ruleSetId])).get(ruleSetId) ?? 'absent';
      if (publication !== 'published') throw new DomainError(REFUSALS[publication].code);
    }
    const { tenantId, projectId } = project;
    const id = rawEventHex(tenantId, projectId, event.occurred_at, event.idempotency_key);
    await tracedIn(span, this.#append('single', project, entitlement, ruleSetId, [id], rawBody));
    return id;
  }

  /** As `acceptSingle`, for all events of a batch or none; the ids are in the order of the events. */
  async acceptBatch(
    project: ProjectRef,
    batch: BatchIngest,
    rawBody: Buffer,
    span?: RequestSpan,
  ): Promise<string[]> {
    const entitlement = await this.#eventEntitlementOf(project);
    new EventCheck(batch, rawBody, entitlement.window, this.#deps.clock).batch(batch);
    const { tenantId, projectId } = project;
    await this.#checkRuleSets(project, batch.events);
    const ids = batch.events.map((event) =>
      rawEventHex(tenantId, projectId, event.occurred_at, event.idempotency_key),
    );
    await tracedIn(span, this.#append('batch', project, entitlement, null, ids, rawBody));
    return ids;
  }

  /** Refuses new events; resolves when all earlier ones are durable or refused. */
  async close(): Promise<void> {
    this.#gate.stop();
    await this.#commit.close();
  }

  /** @throws DomainError `ingest_backlog_full`, `no_entitlement` */
  #eventEntitlementOf(project: ProjectRef): EventEntitlement | Promise<EventEntitlement> {
    this.checkRoom(project);
    const entitlement = this.#deps.admission.eventEntitlementOf(project.tenantId);
    return entitlement instanceof Promise ? entitlement.then(entitled) : entitled(entitlement);
  }

  #append(
    kind: SegmentKind,
    project: ProjectRef,
    entitlement: EventEntitlement,
    extractorRuleSetId: string | null,
    ids: readonly string[],
    body: Buffer,
  ): Promise<void> {
    const { tenantId, projectId, projectNo, storage } = project;
    const record = {
      scope: { kind, tenantId, projectId, projectNo, storage, extractorRuleSetId },
      receivedAtMs: this.#deps.clock.nowMs(),
      eventCount: ids.length,
      ids: Buffer.from(ids.join(''), 'hex'),
      body,
    };
    return this.#commit.accept(record, entitlement);
  }

  async #checkRuleSets(project: ProjectRef, events: readonly BatchIngestItem[]): Promise<void> {
    const { publications } = this.#deps;
    const uses = firstUses(events);
    for (const ruleSetId of uses.keys()) {
      if (publications.isKnownPublished(project, ruleSetId)) uses.delete(ruleSetId);
    }
    if (uses.size === 0) return;
    const found = await publications.read(project, [...uses.keys()]);
    const findings = new Findings();
    for (const [ruleSetId, index] of uses) {
      const publication = found.get(ruleSetId) ?? 'absent';
      if (publication === 'published') continue;
      const { code, finding } = REFUSALS[publication];
      findings.add(code, `events[${index}].extractor_rule_set_id`, finding);
    }
    findings.throwIfAny({ inBatch: true });
  }
}

/** Returns `appended`, and adds the time until it ends to the span, if there is one. */
function tracedIn(span: RequestSpan | undefined, appended: Promise<void>): Promise<void> {
  if (span === undefined) return appended;
  const part = span.begin('append to queue');
  return appended.finally(() => part.end());
}

function entitled(entitlement: EventEntitlement): EventEntitlement {
  if (!entitlement.isEntitled) throw new DomainError('no_entitlement');
  return entitlement;
}

/**
 * Returns each rule set of the batch with the first event that names it. Events of one rule set usually follow each
 * other.
 */
function firstUses(events: readonly BatchIngestItem[]): Map<string, number> {
  const uses = new Map<string, number>();
  let last: string | undefined;
  for (let index = 0; index < events.length; index += 1) {
    const ruleSetId = (events[index] as BatchIngestItem).extractor_rule_set_id;
    if (ruleSetId === last) continue;
    last = ruleSetId;
    if (!uses.has(ruleSetId)) uses.set(ruleSetId, index);
  }
  return uses;
}
