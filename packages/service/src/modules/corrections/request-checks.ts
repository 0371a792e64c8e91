import type {
  BacktestRequest,
  CorrectionFilter,
  CorrectionRequest,
  CorrectionRules,
} from '@tollgate/contract';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { orderedText, parseLossless } from '../../kernel/json/json.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { isUsableText } from '../../kernel/usable-text.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import { ProjectHistory, type UsageHistory } from '../storage/index.js';
import { type RuleSetsForTrial, saved } from '../trial/index.js';
import { countInputs, dimensionConditions, eventState, ingestCounts, inputTotals } from '../usage/index.js';
import { changedCharge } from './backtest.js';
import type { Replacement, StoredCorrection } from './correction.js';
import * as store from './correction-store.js';
import { latestRevisions } from './part-store.js';
import { isHidden } from './selection.js';
import { haveRulesChanged, readAppliedBacktest } from './selection-store.js';

export interface RequestCheckDeps {
  readonly postgres: Postgres;
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly history: UsageHistory;
  readonly ruleSets: RuleSetsForTrial;
}

/** The bound of a count that reads all rows: a UInt32. */
const ALL_ROWS = 0xffff_ffff;

/** Checks what the schema cannot express. @throws DomainError `invalid_request` naming the field */
export function checkRequest({
  action,
  filter,
  rules,
  backtest_id: backtestId,
  reason,
}: CorrectionRequest): void {
  checkReason(reason);
  if ((filter === undefined) === (backtestId === undefined)) {
    throw invalidRequest('filter', 'exactly one of filter and backtest_id is required');
  }
  if (backtestId !== undefined && rules !== undefined) {
    throw invalidRequest('rules', 'must not be given together with backtest_id, whose rules apply');
  }
  if (action === 'void' && (rules !== undefined || backtestId !== undefined)) {
    throw invalidRequest(rules === undefined ? 'backtest_id' : 'rules', 'must not be given to void events');
  }
  if (filter === undefined) return;
  if (filter.to <= filter.from) throw invalidRequest('filter.to', 'must be after filter.from');
  dimensionConditions(filter.dimensions, 'filter.dimensions');
  const extractor = rules?.extractor?.id;
  const named = filter.extractor_rule_set_id;
  if (extractor !== undefined && named !== undefined && named !== extractor) {
    throw invalidRequest('rules.extractor.id', 'must be the rule set of filter.extractor_rule_set_id');
  }
}

/** Events of other extractor rule sets are not rated by a named version. */
export function confined(filter: CorrectionFilter, rules: CorrectionRules | undefined): CorrectionFilter {
  const id = rules?.extractor?.id;
  return id === undefined ? filter : { ...filter, extractor_rule_set_id: id };
}

export function checkReason(reason: string): void {
  if (!isUsableText(reason)) throw invalidRequest('reason', 'must not contain NUL or a lone surrogate');
}

/**
 * The queue knows how many events of a project wait, and not which: their ids are in bytes that only rating reads.
 *
 * @throws DomainError `event_not_rated` while the event may wait to be rated; `not_found`
 */
export async function checkRated(
  { postgres, history }: RequestCheckDeps,
  project: ProjectRef,
  eventId: string,
): Promise<void> {
  const db = new ProjectDb(postgres.db, project);
  const scope = await history.scopeOf(project);
  if (isHidden({ scope }, eventId)) throw new DomainError('not_found');
  const isAbsent = async () => (await eventState(db, scope, eventId)) === 'absent';
  if (!(await isAbsent())) return;
  const { pending } = await ingestCounts(db);
  if (pending > 0) throw new DomainError('event_not_rated');
  // It may have been rated between both reads.
  if (await isAbsent()) throw new DomainError('not_found');
}

/**
 * @param extractorId the extractor rule set whose events are corrected; undefined for all
 * @throws DomainError `rule_set_not_found` naming the field; `invalid_request` for prices of other events
 */
export async function checkRules(
  { ruleSets: { extractors, pricings } }: RequestCheckDeps,
  project: ProjectRef,
  { extractor, pricing = [] }: CorrectionRules,
  extractorId: string | undefined,
): Promise<void> {
  if (extractor !== undefined) {
    const { id, version } = extractor;
    await saved(extractors, project, id, version, 'an extractor', 'rules.extractor.id');
  }
  for (const [index, { id, version }] of pricing.entries()) {
    const path = `rules.pricing[${index}].id`;
    const { boundTo } = await saved(pricings, project, id, version, 'a pricing', path);
    if (extractorId !== undefined && boundTo !== extractorId) {
      throw invalidRequest(path, `must be bound to ${extractorId}, whose events are corrected`);
    }
  }
}

/**
 * Refuses a backtest that cannot be applied as it is. Planning compares each amount; this finds cheaply what most often
 * changes, before anything is planned.
 *
 * @throws DomainError `not_found`; `invalid_request` if it counts by rules that are not saved; `backtest_stale` if its
 * events, their charges or its rules have changed, or it did not rate all of them
 */
export async function checkBacktest(
  { postgres, clickhouse, history }: RequestCheckDeps,
  project: ProjectRef,
  id: string,
): Promise<void> {
  const db = new ProjectDb(postgres.db, project);
  const backtest = await readAppliedBacktest(db, id);
  if (backtest === undefined) {
    const message = 'the project has no backtest with this id that has succeeded';
    throw new DomainError('not_found', { details: [{ path: 'backtest_id', message }] });
  }
  const { request, result } = backtest;
  if (hasUnsavedCounters(request)) {
    const message =
      'must not be a backtest with cumulative prices in its request: counters belong to saved rules; ' +
      'save them, and backtest their version';
    throw invalidRequest('backtest_id', message);
  }
  if (result.cut_by.length > 0)
    throw staleBacktest(`it did not rate everything: it is cut by ${result.cut_by.join(', ')}`);
  if (await haveRulesChanged(db, backtest)) throw staleBacktest('its rules have changed since');
  const selection = {
    extractorRuleSetId: request.extractor_rule_set_id,
    from: result.from,
    to: result.to,
    share: request.sample ?? 1,
  };
  const stored = new ProjectHistory(clickhouse, await history.scopeOf(project));
  const count = await countInputs(stored, selection, ALL_ROWS);
  if (count !== result.event_count)
    throw staleBacktest(`it rated ${result.event_count} events, and there are ${count} now`);
  const changed = changedCharge(result, await inputTotals(stored, selection));
  if (changed !== undefined) throw staleBacktest(`the charges of ${changed} have changed since`);
}

/** Whether rules in the request have prices by totals: no counter of the project belongs to them. */
function hasUnsavedCounters({ extractor, pricing }: BacktestRequest): boolean {
  return [...(extractor?.charge_item_extractors ?? []), ...(pricing?.rules ?? [])].some(
    ({ cumulative }) => cumulative !== undefined,
  );
}

function staleBacktest(message: string): DomainError {
  return new DomainError('backtest_stale', { details: [{ path: 'backtest_id', message }] });
}

/**
 * Returns the correction that has made an event what is asked for, or is doing so; undefined while a later one of the
 * event is in progress that makes it something else, because that one may be applied last.
 */
export async function earlierOf(
  db: ProjectDb,
  eventId: string,
  { action, request }: Pick<store.NewCorrection, 'action' | 'request'>,
): Promise<string | undefined> {
  const isSame = (known: StoredCorrection | undefined): known is StoredCorrection =>
    known?.action === action &&
    (action === 'void' || contentText(known.request.replacement) === contentText(request.replacement));
  const open = await store.latestOpenOf(db, eventId);
  if (open !== undefined) return isSame(open) ? open.id : undefined;
  const inForce = (await latestRevisions(db, [eventId])).get(eventId)?.correctionId;
  const known = inForce ? await store.readCorrection(db, inForce) : undefined;
  return isSame(known) ? known.id : undefined;
}

/** Returns the new content of an event in one spelling; empty without any. */
export function contentText(replacement: Replacement | null): string {
  if (replacement === null) return '';
  const { rawJson, metadata, xBilling, subject } = replacement;
  const sent = [rawJson, metadata, xBilling].map((text) => (text === '' ? null : parseLossless(text)));
  return orderedText([...sent, subject]);
}

/** Returns the error about a correction that cannot be changed in its status. */
export function wrongStatus(
  code: 'correction_not_planned' | 'correction_not_applied',
  status: StoredCorrection['status'],
): DomainError {
  const details = [{ path: 'id', message: `the status of the correction is ${status}` }];
  return new DomainError(code, { details });
}

/** Returns the error about a correction of which a later one has changed an event. */
export function superseded(later: string): DomainError {
  const details = [{ path: '', message: `${later} has changed an event of this correction` }];
  return new DomainError('correction_superseded', { details });
}
