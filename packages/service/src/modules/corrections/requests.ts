import {
  type ApplyCorrectionRequest,
  CORRECTIONS_OPEN_MAX,
  type Correction,
  type CorrectionRequest,
  type CorrectionStarted,
  type CorrectionSummary,
} from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { newId, rawEventIdText } from '../../kernel/id.js';
import { orderedText } from '../../kernel/json/json.js';
import type { ListPage, Page } from '../../kernel/page.js';
import type { Principal } from '../../kernel/principal.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { onSnapshot, ProjectDb, TenantTx, type Tx, transaction } from '../../platform/postgres/index.js';
import { earlierAnswer, once } from '../ledger/index.js';
import { auditRequest, type CorrectionRequester, totalsInForce } from './audit.js';
import { type CorrectionInput, PLAN_MS, type Replacement, type StoredCorrection } from './correction.js';
import * as store from './correction-store.js';
import { hasCounts, uncountPeriods } from './counted-periods-store.js';
import { deleteParts, supersededBy } from './part-store.js';
import {
  checkBacktest,
  checkRated,
  checkReason,
  checkRequest,
  checkRules,
  confined,
  contentText,
  earlierOf,
  type RequestCheckDeps,
  superseded,
  wrongStatus,
} from './request-checks.js';
import { shownCorrection, shownSummary } from './view.js';

export interface CorrectionsDeps extends RequestCheckDeps {
  readonly clock: Clock;
}

/** Who asks for a correction. */
export interface CorrectionCaller extends CorrectionRequester {
  readonly project: ProjectRef;
  /** The `Idempotency-Key`. */
  readonly key: string | undefined;
}

/** A change of a correction that a request asks for. */
interface AskedChange {
  readonly id: string;
  readonly reason: string | undefined;
  /** Distinguishes the request from others with its key, beside the id and the reason. */
  readonly options?: readonly string[];
}

const NO_CHECK = async () => {};
const NOTHING: CorrectionInput = { filter: null, rules: null, replacement: null };

/** The corrections of projects: what requests may do with them. A job does the work. */
export class Corrections {
  readonly #deps: CorrectionsDeps;

  constructor(deps: CorrectionsDeps) {
    this.#deps = deps;
  }

  /**
   * Starts a correction of many events.
   *
   * @throws DomainError `invalid_request`, `rule_set_not_found`, `not_found` for the backtest, `backtest_stale`,
   * `correction_limit_reached`
   */
  async create(caller: CorrectionCaller, request: CorrectionRequest): Promise<CorrectionStarted> {
    const { action, filter, rules, backtest_id: backtestId, reason, dry_run: isDryRun = false } = request;
    checkRequest(request);
    const input: CorrectionInput = {
      ...NOTHING,
      filter: filter === undefined ? null : confined(filter, rules),
      rules: rules ?? null,
    };
    const check = async () => {
      if (rules !== undefined) {
        await checkRules(this.#deps, caller.project, rules, input.filter?.extractor_rule_set_id);
      }
      if (backtestId !== undefined) await checkBacktest(this.#deps, caller.project, backtestId);
    };
    return this.#once(caller, ['create', orderedText(request)], check, async (tx) => {
      const id = await this.#insert(tx, caller, {
        action,
        eventId: null,
        request: input,
        backtestId: backtestId ?? null,
        reason,
        isAppliedAtOnce: !isDryRun,
      });
      return { id, status: 'planning' };
    });
  }

  /**
   * Voids one event. A voided event stays as it is.
   *
   * @returns the id of the correction that voids it
   * @throws DomainError `not_found`, `event_not_rated`
   */
  voidEvent(caller: CorrectionCaller, eventId: string, reason: string): Promise<{ correction_id: string }> {
    return this.#correctOne(caller, eventId, { action: 'void', request: NOTHING, reason });
  }

  /** Replaces the content of one event. As `voidEvent`, if that is its content already. */
  replaceEvent(
    caller: CorrectionCaller,
    eventId: string,
    replacement: Replacement,
    reason: string,
  ): Promise<{ correction_id: string }> {
    const request = { ...NOTHING, replacement };
    return this.#correctOne(caller, eventId, { action: 'replace', request, reason });
  }

  /**
   * @param request whether amounts by totals are posted as planned, or as the counters are now
   * @throws DomainError `not_found`, `correction_not_planned`
   */
  apply(
    caller: CorrectionCaller,
    id: string,
    { counters = 'exact', reason }: ApplyCorrectionRequest,
  ): Promise<Correction> {
    const asked = { id, reason, options: counters === 'exact' ? [] : [counters] };
    return this.#change(caller, asked, 'apply', async (db, { status, eventsChanged, plannedAtMs }) => {
      if (status === 'applying' || status === 'applied') return {};
      if (status !== 'planned') throw wrongStatus('correction_not_planned', status);
      // The job that ends old plans may be late.
      if (plannedAtMs !== null && plannedAtMs < this.#deps.clock.nowMs() - PLAN_MS) {
        throw wrongStatus('correction_not_planned', 'expired');
      }
      const appliedBy = actorOf(caller.principal);
      const isRecounted = counters === 'current' && (await hasCounts(db, id));
      if (isRecounted) await uncountPeriods(db, id);
      const how = { counters, phase: isRecounted ? 'counters' : 'parts', appliedBy } as const;
      if (eventsChanged > 0) return { status: 'applying', nextPart: 0, ...how, busyUntilMs: 0 };
      return { status: 'applied', appliedBy, appliedAtMs: this.#deps.clock.nowMs() };
    });
  }

  /** @throws DomainError `not_found`, `correction_not_applied`, `correction_superseded` */
  revert(caller: CorrectionCaller, id: string, reason: string | undefined): Promise<Correction> {
    return this.#change(caller, { id, reason }, 'revert', async (db, { status, eventsApplied }) => {
      if (status === 'reverting' || status === 'reverted') return {};
      if (status !== 'applied' && status !== 'stale') throw wrongStatus('correction_not_applied', status);
      const later = await supersededBy(db, id);
      if (later !== undefined) throw superseded(later);
      const by = { revertedBy: actorOf(caller.principal), failureCode: null, failureMessage: null };
      const revertedTotals = await totalsInForce(db, id);
      if (eventsApplied > 0)
        return { ...by, revertedTotals, status: 'reverting', nextPart: 0, busyUntilMs: 0 };
      return { ...by, status: 'reverted', revertedAtMs: this.#deps.clock.nowMs() };
    });
  }

  /** Ends a plan that is not applied. @throws DomainError `not_found`, `correction_not_planned` */
  discard(caller: CorrectionCaller, id: string, reason: string | undefined): Promise<Correction> {
    return this.#change(caller, { id, reason }, 'discard', async (db, { status }) => {
      if (status === 'expired') return {};
      if (status !== 'planning' && status !== 'planned') throw wrongStatus('correction_not_planned', status);
      await deleteParts(db, id);
      return { status: 'expired' };
    });
  }

  /** @throws DomainError `not_found` */
  read(project: ProjectRef, id: string): Promise<Correction> {
    // On one snapshot: a part may be applied between two statements.
    return onSnapshot(this.#deps.postgres, async (tx) => {
      const db = new ProjectDb(tx, project);
      const found = await store.readCorrection(db, id);
      if (found === undefined) throw new DomainError('not_found');
      return shownCorrection(db, found);
    });
  }

  async list(
    project: ProjectRef,
    filter: store.CorrectionListFilter,
    page: Page,
  ): Promise<ListPage<CorrectionSummary>> {
    const db = new ProjectDb(this.#deps.postgres.db, project);
    const { items, totalCount } = await store.listCorrections(db, filter, page);
    return { items: items.map(shownSummary), totalCount };
  }

  async #correctOne(
    caller: CorrectionCaller,
    eventId: string,
    asked: Pick<store.NewCorrection, 'action' | 'request' | 'reason'>,
  ): Promise<{ correction_id: string }> {
    checkReason(asked.reason);
    const { action, request, reason } = asked;
    const same = [action, eventId, contentText(request.replacement), reason];
    const check = () => checkRated(this.#deps, caller.project, eventId);
    return this.#once(caller, same, check, async (tx) => {
      // The same request could be there twice: the second one has to find the correction of the first.
      const { tenantId, projectId } = caller.project;
      await new TenantTx(tx, tenantId).lock('corrected event', projectId, eventId);
      const earlier = await earlierOf(new ProjectDb(tx, caller.project), eventId, asked);
      if (earlier !== undefined) return { correction_id: earlier };
      const id = await this.#insert(tx, caller, {
        ...asked,
        eventId,
        backtestId: null,
        isAppliedAtOnce: true,
      });
      return { correction_id: id };
    });
  }

  async #insert(
    tx: Tx,
    caller: CorrectionCaller,
    asked: Omit<store.NewCorrection, 'id' | 'counters' | 'createdBy' | 'createdAtMs'>,
  ): Promise<string> {
    const { project, principal } = caller;
    const { clock } = this.#deps;
    const db = new ProjectDb(tx, project);
    if ((await store.countInProgress(db)) >= CORRECTIONS_OPEN_MAX)
      throw new DomainError('correction_limit_reached');
    const id = newId('cor', clock);
    const createdAtMs = clock.nowMs();
    const { action, eventId, backtestId, reason, isAppliedAtOnce, request } = asked;
    // Nobody has looked at a plan that is applied at once.
    const counters = isAppliedAtOnce ? 'current' : 'exact';
    await store.insertCorrection(db, { ...asked, id, counters, createdBy: actorOf(principal), createdAtMs });
    await auditRequest(tx, caller, {
      verb: 'create',
      id,
      change: {
        ...{ action, reason, dry_run: !isAppliedAtOnce },
        ...{ raw_event_id: eventId === null ? null : rawEventIdText(eventId) },
        ...{ filter: request.filter, rules: request.rules, backtest_id: backtestId },
      },
      nowMs: createdAtMs,
    });
    return id;
  }

  #change(
    caller: CorrectionCaller,
    { id, reason: changeReason, options = [] }: AskedChange,
    verb: 'apply' | 'revert' | 'discard',
    change: (db: ProjectDb, correction: StoredCorrection) => Promise<store.CorrectionChange>,
  ): Promise<Correction> {
    if (changeReason !== undefined) checkReason(changeReason);
    const asked = [verb, id, ...options, ...(changeReason === undefined ? [] : [`reason: ${changeReason}`])];
    return this.#once(caller, asked, NO_CHECK, async (tx) => {
      const db = new ProjectDb(tx, caller.project);
      const found = await store.lockCorrection(db, id);
      if (found === undefined) throw new DomainError('not_found');
      const changed = await change(db, found);
      const { status } = changed;
      if (status === undefined) return shownCorrection(db, found);
      const nowMs = this.#deps.clock.nowMs();
      await store.changeCorrection(db, id, { ...changed, progressedAtMs: nowMs });
      // A job that changes events records the end with its totals, and does not know the reason of the change.
      if (changeReason !== undefined || (status !== 'applying' && status !== 'reverting')) {
        const { action, reason } = found;
        const why = changeReason === undefined ? {} : { change_reason: changeReason };
        await auditRequest(tx, caller, { verb, id, change: { action, reason, status, ...why }, nowMs });
      }
      const now = await store.readCorrection(db, id);
      return shownCorrection(db, now ?? found);
    });
  }

  /** @param check may be slow, and is left out if the request was carried out before */
  async #once<Answer extends object>(
    { project: { tenantId, projectId }, key }: CorrectionCaller,
    asked: readonly string[],
    check: () => Promise<void>,
    work: (tx: Tx) => Promise<Answer>,
  ): Promise<Answer> {
    const { postgres, clock } = this.#deps;
    const request = { tenantId, projectId, operation: 'usage_correction', key, asked };
    const earlier = await earlierAnswer<Answer>(postgres.db, request);
    if (earlier !== undefined) return earlier;
    await check();
    return transaction(postgres, (tx) => once(tx, request, unixSeconds(clock), () => work(tx)));
  }
}

function actorOf(principal: Principal): string {
  return principal.kind === 'service' ? 'service' : principal.keyId;
}
