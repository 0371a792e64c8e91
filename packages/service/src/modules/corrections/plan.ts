import { CORRECTION_EVENTS_MAX, ERRORS } from '@tollgate/contract';
import { DomainError } from '../../kernel/errors.js';
import { present } from '../../kernel/present.js';
import { ProjectDb, type Tx, transaction } from '../../platform/postgres/index.js';
import { BatchPosting, type RatedUsage } from '../limits/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { backtestOf, differsFromBacktest } from './backtest.js';
import { EventChanges } from './changes.js';
import { idOf, type OpenCorrection, type Replacement, type StepResult } from './correction.js';
import { type CorrectionChange, changeCorrection, readExamples } from './correction-store.js';
import { type EngineDeps, historyOf, inStep, latest, revisionOf, revisionsOf } from './engine.js';
import { encodeOutcomes, isChanged, type Outcome, voided, withOutcome } from './outcome.js';
import { addChangedTotals, deleteParts, insertPart, latestRevisions } from './part-store.js';
import {
  backtestRating,
  type CorrectionRating,
  CUMULATIVE,
  correctionRating,
  type Rerated,
} from './rating.js';
import { countMatching, failedAmong, isHidden, type MatchingEvents, matchingPage } from './selection.js';

/** Events of one part, which is applied in one transaction. */
const PART_EVENTS = 2_000;
/**
 * Parts that one step plans. ClickHouse reads whole granules, in which events of other parts are; all rows of the step
 * are in memory together.
 */
const PARTS_PER_STEP = 5;

const BACKTEST_STALE = {
  status: 'failed',
  failureCode: 'backtest_stale',
  failureMessage: ERRORS.backtest_stale.message,
} as const satisfies CorrectionChange;

/** An event with the revision that a plan gives it. */
interface PlannedEvent {
  readonly id: string;
  readonly former: UsageEventRow;
  readonly outcome: Outcome;
}

/** The events that a step has found. */
interface PlannedEvents {
  readonly matched: number;
  readonly planned: readonly PlannedEvent[];
  readonly failed: readonly Extract<Rerated, { ok: false }>['failure'][];
}

/**
 * Plans the next parts of a correction: reads matching events, and decides what each will be. Writes nothing but the
 * plan.
 */
export async function planStep(deps: EngineDeps, correction: OpenCorrection): Promise<StepResult> {
  const { project } = correction;
  const history = await historyOf(deps, project);
  const selection = await selectionOf(deps, correction);
  const { partsPerStep = PARTS_PER_STEP } = deps;
  const page = await matchingPage(history, selection, correction, partsPerStep * partSize(deps));
  const revisions = await revisionsOf(history, page.ids);
  const db = new ProjectDb(deps.postgres.db, project);
  const recorded = await latestRevisions(db, page.ids);
  for (const [id, rows] of revisions) {
    // The rows of an earlier correction are on their way to ClickHouse.
    if (revisionOf(latest(rows)) < (recorded.get(id)?.revision ?? 1)) return 'wait';
  }
  const rows = page.ids.flatMap((id) => (revisions.has(id) ? [latest(present(revisions.get(id), id))] : []));
  const matching = await failedAmong(db, rows.filter(page.matches));
  if (selection.kind === 'event' && matching.length === 0) {
    // A named event that has become too old meanwhile will not come; any other one is on its way to ClickHouse.
    if (isHidden(history, selection.eventId)) throw new DomainError('not_found');
    return 'wait';
  }
  const eventsTotal = correction.eventsTotal ?? (await countMatching(history, selection));
  const found = await decide(deps, correction, matching);
  await store(deps, correction, { found, page, eventsTotal });
  return 'done';
}

function partSize({ partEvents = PART_EVENTS }: EngineDeps): number {
  return partEvents;
}

async function selectionOf(deps: EngineDeps, { project, backtestId, request, eventId }: OpenCorrection) {
  if (eventId !== null) return { kind: 'event', eventId } as const;
  if (backtestId === null)
    return { kind: 'filter', filter: present(request.filter ?? undefined, 'the filter') } as const;
  const { request: tested, result } = await backtestOf(new ProjectDb(deps.postgres.db, project), backtestId);
  return {
    kind: 'backtest',
    ruleSetId: tested.extractor_rule_set_id,
    from: result.from,
    to: result.to,
    share: tested.sample ?? 1,
  } as const;
}

async function decide(
  deps: EngineDeps,
  correction: OpenCorrection,
  rows: readonly UsageEventRow[],
): Promise<PlannedEvents> {
  if (correction.action === 'void') {
    const counted = rows.filter(isCounted);
    const planned = rows
      .filter((former) => !isCounted(former))
      .filter(({ status }) => status !== 'voided')
      .map((former) => ({ id: idOf(former), former, outcome: voided(former) }));
    return { matched: rows.length, planned, failed: counted.map(() => CUMULATIVE) };
  }
  const rating = await ratingOf(deps, correction);
  const replacement = correction.request.replacement;
  const failed: PlannedEvents['failed'][number][] = [];
  const rerated: { former: UsageEventRow; outcome: Omit<Outcome, 'posting' | 'accountId'> }[] = [];
  for (const former of rows) {
    const event = replacement === null ? former : replaced(former, replacement);
    const result = isCounted(former)
      ? ({ ok: false, failure: CUMULATIVE } as const)
      : await rating.rate(event);
    if (!result.ok) failed.push(result.failure);
    else
      rerated.push({ former, outcome: replacement === null ? result.outcome : sent(event, result.outcome) });
  }
  const routed = await transaction(deps.postgres, (tx) => withAccounts(tx, deps, correction, rerated));
  const planned = routed.filter(({ former, outcome }) => isChanged(former, outcome));
  return { matched: rows.length, planned, failed };
}

function isCounted({ items }: UsageEventRow): boolean {
  return items.some(({ cumulative }) => cumulative !== '');
}

async function ratingOf(deps: EngineDeps, correction: OpenCorrection): Promise<CorrectionRating> {
  const { project, backtestId, request } = correction;
  if (backtestId === null) return correctionRating(deps, project, request.rules);
  const { request: tested } = await backtestOf(new ProjectDb(deps.postgres.db, project), backtestId);
  return backtestRating(deps, project, tested);
}

function replaced(
  former: UsageEventRow,
  { rawJson, metadata, xBilling, subject }: Replacement,
): UsageEventRow {
  return {
    ...former,
    ...{ rawJson, metadata, xBilling, subjectIsSent: subject !== null },
    subjectType: subject?.type ?? '',
    subjectId: subject?.id ?? '',
  };
}

function sent(
  { rawJson, metadata, xBilling }: UsageEventRow,
  outcome: Omit<Outcome, 'posting' | 'accountId'>,
) {
  return { ...outcome, sent: { rawJson, metadata, xBilling } };
}

/**
 * Adds the account of each event: that which was debited, if the subject is still the same; otherwise that of the
 * subject's route now.
 */
async function withAccounts(
  tx: Tx,
  { limits, clock }: EngineDeps,
  { project }: OpenCorrection,
  events: readonly { former: UsageEventRow; outcome: Omit<Outcome, 'posting' | 'accountId'> }[],
): Promise<PlannedEvent[]> {
  const posting = new BatchPosting(tx, limits, clock.nowMs());
  const usage = events.map(({ former, outcome }) => usageOf(former, outcome));
  const prepared = await posting.prepare([{ scope: project, events: usage }]);
  return events.map(({ former, outcome }, index) => {
    const routed = prepared.of(project, present(usage[index], 'the usage of an event'));
    const isKept =
      former.posting === 'posted' &&
      former.subjectType === outcome.subjectType &&
      former.subjectId === outcome.subjectId;
    const accountId = isKept ? former.accountId : routed.accountId;
    const posted = routed.posting === 'unpriced' ? 'unpriced' : accountId === '' ? 'unrouted' : 'posted';
    return { id: idOf(former), former, outcome: { ...outcome, posting: posted, accountId } };
  });
}

function usageOf({ occurredAt }: UsageEventRow, outcome: Omit<Outcome, 'posting' | 'accountId'>): RatedUsage {
  const { subjectType: type, subjectId: id, dimensions, items } = outcome;
  return { occurredAt, subject: id === '' ? undefined : { type, id }, dimensions, items, budgetLeaseId: '' };
}

interface PlannedPage {
  readonly found: PlannedEvents;
  readonly page: MatchingEvents;
  readonly eventsTotal: number;
}

async function store(
  deps: EngineDeps,
  correction: OpenCorrection,
  { found: { matched, planned, failed }, page, eventsTotal }: PlannedPage,
): Promise<void> {
  const { id } = correction;
  const nowMs = deps.clock.nowMs();
  const changes = new EventChanges();
  for (const { former, outcome } of planned) changes.add(former, former, withOutcome(former, outcome));
  const parts = await partsOf(deps, correction, planned);
  await inStep(deps, correction, async (_tx, db, now) => {
    for (const [index, part] of parts.entries())
      await insertPart(db, id, { ...part, no: now.partCount + index });
    await addChangedTotals(db, id, 'planned', changes.totals());
    const eventsFailed = { ...now.eventsFailed };
    for (const { code } of failed) eventsFailed[code] = (eventsFailed[code] ?? 0) + 1;
    const counts = {
      eventsTotal: Math.max(eventsTotal, now.eventsMatched + matched),
      eventsMatched: now.eventsMatched + matched,
      eventsChanged: now.eventsChanged + planned.length,
      eventsFailed,
      partCount: now.partCount + parts.length,
    };
    const lastId = page.ids.at(-1);
    const isOther = page.isEnd && (await differsFromBacktest(db, { ...correction, ...counts }));
    const end = isOther
      ? BACKTEST_STALE
      : endOfPlan(deps, correction, { ...counts, failed, isEnd: page.isEnd, nowMs });
    await changeCorrection(db, id, {
      ...counts,
      ...(lastId === undefined ? {} : { plannedUpTo: lastId }),
      examples: changes.examplesWith(await readExamples(db, id)),
      ...end,
    });
    // A plan that has failed is never applied, and may have many parts.
    if (end.status === 'failed') await deleteParts(db, id);
  });
}

/** Returns the parts of planned events, without their numbers. */
function partsOf(deps: EngineDeps, { action }: OpenCorrection, planned: readonly PlannedEvent[]) {
  const size = partSize(deps);
  const count = Math.ceil(planned.length / size);
  const parts = Array.from({ length: count }, (_, index) => planned.slice(index * size, (index + 1) * size));
  return Promise.all(
    parts.map(async (events) => ({
      ids: events.map(({ id }) => id),
      formerRevisions: events.map(({ former }) => revisionOf(former)),
      formerAttempts: events.map(({ former }) => former.attempt),
      outcomes: await encodeOutcomes(action === 'void' ? [] : events.map(({ outcome }) => outcome)),
    })),
  );
}

/** Returns the changes of status after a step. */
function endOfPlan(
  { eventsMax = CORRECTION_EVENTS_MAX }: EngineDeps,
  { action, isAppliedAtOnce }: OpenCorrection,
  found: {
    readonly eventsTotal: number;
    readonly eventsMatched: number;
    readonly eventsChanged: number;
    readonly failed: PlannedEvents['failed'];
    readonly isEnd: boolean;
    readonly nowMs: number;
  },
): CorrectionChange {
  const { eventsMatched, eventsChanged, failed, isEnd, nowMs } = found;
  if (eventsMatched > eventsMax) {
    const failureMessage = `More than ${eventsMax} events match (CORRECTION_EVENTS_MAX). Narrow the filter.`;
    return { status: 'failed', failureCode: 'correction_too_large', failureMessage };
  }
  const [failure] = failed;
  if (action === 'replace' && failure !== undefined) {
    return { status: 'failed', failureCode: failure.code, failureMessage: failure.message };
  }
  if (!isEnd) return {};
  if (!isAppliedAtOnce) return { status: 'planned', plannedAtMs: nowMs };
  if (eventsChanged > 0) return { status: 'applying', plannedAtMs: nowMs };
  return { status: 'applied', plannedAtMs: nowMs, appliedAtMs: nowMs };
}
