import { DomainError } from '../../kernel/errors.js';
import { present } from '../../kernel/present.js';
import { ProjectDb, transaction } from '../../platform/postgres/index.js';
import { TotalPrices } from '../rules/index.js';
import { hasRemainder, type UsageEventRow } from '../usage/index.js';
import { backtestOf } from './backtest.js';
import { idOf, type OpenCorrection, type Replacement, type StepResult } from './correction.js';
import { hasEarlierInProgress, readExamples } from './correction-store.js';
import { countsInForce } from './count.js';
import { hasCounts } from './counted-periods-store.js';
import { insertCounts } from './counts-store.js';
import { type EngineDeps, inStep, revisionOf } from './engine.js';
import { isChanged, type Outcome, voided } from './outcome.js';
import { addChangedTotals, insertPart, latestRevisions } from './part-store.js';
import { type RatedAgain, withAccounts } from './plan-accounts.js';
import { checkSize, endPlanStep, withFailures } from './plan-end.js';
import { backtestRating, type CorrectionRating, correctionRating } from './rating.js';
import { countMatching, failedAmong, isHidden, type MatchingEvents } from './selection.js';
import { rowWithoutCounts, StepPlan } from './step-plan.js';
import { historyOf, partSize } from './step-rows.js';

/** Events that are rated and planned together: their rows are garbage before the next ones are read. */
const SLICE_EVENTS = 500;

/**
 * Plans the next parts of a correction: reads matching events, and decides what each will be. Writes nothing but the
 * plan.
 */
export async function planStep(deps: EngineDeps, correction: OpenCorrection): Promise<StepResult> {
  const { project, eventId } = correction;
  const db = new ProjectDb(deps.postgres.db, project);
  // Planned for the same revision, the later one would be stale when the earlier one is applied.
  if (eventId !== null && (await hasEarlierInProgress(db, correction))) return 'wait';
  const history = await historyOf(deps, project);
  const selection = await selectionOf(deps, correction);
  const { page, revisions } = await deps.rows.ofPlan(correction, selection);
  const recorded = await latestRevisions(db, page.ids);
  for (const id of page.ids) {
    const corrections = revisions.correctionsOf(id);
    // The rows of an earlier correction are on their way to ClickHouse.
    if (corrections !== undefined && revisionOf({ corrections }) < (recorded.get(id)?.revision ?? 1))
      return 'wait';
  }
  deps.rows.readNext();
  const { eventsTotal: known } = correction;
  const { events: eventsTotal, isExact } =
    known === null ? await countMatching(history, selection) : { events: known, isExact: false };
  if (isExact) checkSize(deps, eventsTotal);
  const plan = new StepPlan({
    partEvents: partSize(deps),
    hasOutcomes: correction.action !== 'void',
    revisions,
  });
  const decide = await decisionOf(deps, correction, plan);
  for (let start = 0; start < page.ids.length; start += SLICE_EVENTS) {
    const slice = page.ids.slice(start, start + SLICE_EVENTS);
    const rows = slice.flatMap((id) => revisions.latest(id) ?? []);
    const matching = await failedAmong(db, rows.filter(page.matches));
    plan.matched += matching.length;
    await decide(matching);
  }
  if (selection.kind === 'event' && plan.matched === 0) {
    // A named event that has become too old meanwhile will not come; any other one is on its way to ClickHouse.
    if (isHidden(history, selection.eventId)) throw new DomainError('not_found');
    return 'wait';
  }
  await store(deps, correction, { plan, page, eventsTotal });
  return 'done';
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

/** Returns the function that decides the next revisions of matching events, and adds them to the plan. */
async function decisionOf(
  deps: EngineDeps,
  correction: OpenCorrection,
  plan: StepPlan,
): Promise<(rows: readonly UsageEventRow[]) => Promise<void>> {
  const { project, action } = correction;
  const prices = new TotalPrices(deps.ruleSets, project);
  const inForce = (row: UsageEventRow) => countsInForce(project, prices, row, idOf(row));
  if (action === 'void') {
    return async (rows) => {
      for (const former of rows) {
        if (former.status === 'voided') continue;
        plan.add({ id: idOf(former), former, outcome: voided(former), counts: await inForce(former) });
      }
    };
  }
  const rating = await ratingOf(deps, correction);
  const { replacement } = correction.request;
  return async (rows) => {
    const rerated: RatedAgain[] = [];
    for (const former of rows) {
      const event = replacement === null ? former : replaced(former, replacement);
      const result = await rating.rate(event);
      if (!result.ok) plan.failed.push(result.failure);
      else rerated.push({ former, result });
    }
    const completed = await transaction(deps.postgres, (tx) => withAccounts(tx, deps, project, rerated));
    for (const { former, result } of completed) {
      if (!result.ok) {
        plan.failed.push(result.failure);
        continue;
      }
      const outcome = replacement === null ? result.outcome : sent(replacement, result.outcome);
      const counts = [...(await inForce(former)), ...result.counts];
      if (counts.length > 0 || isChanged(former, withRemaining(former, outcome)))
        plan.add({ id: idOf(former), former, outcome, counts });
    }
  };
}

/** Remainders of earlier corrections stay on their event, and may decide its account. */
function withRemaining(former: UsageEventRow, outcome: Outcome): Outcome {
  return hasRemainder(former) ? { ...outcome, ...rowWithoutCounts(former, outcome) } : outcome;
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

function sent({ rawJson, metadata, xBilling }: Replacement, outcome: Outcome): Outcome {
  return { ...outcome, sent: { rawJson, metadata, xBilling } };
}

interface PlannedPage {
  readonly plan: StepPlan;
  readonly page: MatchingEvents;
  readonly eventsTotal: number;
}

async function store(
  deps: EngineDeps,
  correction: OpenCorrection,
  { plan, page, eventsTotal }: PlannedPage,
): Promise<void> {
  const { id } = correction;
  const { matched, changed, failed, totals, examples } = plan;
  const parts = await plan.parts();
  await inStep(deps, correction, async (_tx, db, now) => {
    for (const [index, { counts, ...part }] of parts.entries()) {
      const no = now.partCount + index;
      await insertPart(db, id, { ...part, no });
      await insertCounts(db, id, no, counts);
    }
    await addChangedTotals(db, id, 'planned', totals.totals());
    const numbers = {
      eventsTotal: Math.max(eventsTotal, now.eventsMatched + matched),
      eventsMatched: now.eventsMatched + matched,
      eventsChanged: now.eventsChanged + changed,
      eventsFailed: withFailures(now.eventsFailed, failed),
      partCount: now.partCount + parts.length,
    };
    const lastId = page.ids.at(-1);
    const isCounting = page.isEnd && (await hasCounts(db, id));
    const progress = { ...numbers, failure: failed[0], isEnd: page.isEnd && !isCounting };
    await endPlanStep(deps, correction, db, progress, {
      ...numbers,
      ...(lastId === undefined ? {} : { plannedUpTo: lastId }),
      ...(isCounting ? { phase: 'counters' } : {}),
      examples: examples.with(await readExamples(db, id)),
    });
  });
}
