import { DomainError } from '../../kernel/errors.js';
import { present } from '../../kernel/present.js';
import { ProjectDb, transaction } from '../../platform/postgres/index.js';
import { TotalPrices } from '../rules/index.js';
import { firstRevisions, type UsageEventRow } from '../usage/index.js';
import { backtestOf } from './backtest.js';
import { EventChanges } from './changes.js';
import { idOf, type OpenCorrection, type Replacement, type StepResult } from './correction.js';
import { readExamples } from './correction-store.js';
import { countsInForce, type PeriodCount } from './count.js';
import { hasCounts } from './counted-periods-store.js';
import { countedRow } from './counted-row.js';
import { insertCounts } from './counts-store.js';
import {
  type EngineDeps,
  historyOf,
  inStep,
  latest,
  partsPerStep,
  revisionOf,
  STEP_BYTES_MAX,
} from './engine.js';
import { encodeOutcomes, isChanged, type Outcome, voided, withOutcome } from './outcome.js';
import { addChangedTotals, insertPart, latestRevisions } from './part-store.js';
import { type RatedAgain, withAccounts } from './plan-accounts.js';
import { checkSize, endPlanStep, withFailures } from './plan-end.js';
import { backtestRating, type CorrectionRating, correctionRating, type Rerated } from './rating.js';
import { remaindersOf } from './remainder.js';
import { countMatching, failedAmong, isHidden, type MatchingEvents, matchingPage } from './selection.js';

/** Events of one part, which is applied in one transaction. */
const PART_EVENTS = 2_000;

/** An event with the revision that a plan gives it. */
interface PlannedEvent {
  readonly id: string;
  readonly former: UsageEventRow;
  readonly outcome: Outcome;
  /** Its charge items in counters: those in force, and the next ones. */
  readonly counts: readonly PeriodCount[];
}

type Failure = Extract<Rerated, { ok: false }>['failure'];

/** The events that a step has found. */
interface PlannedEvents {
  readonly matched: number;
  readonly planned: readonly PlannedEvent[];
  readonly failed: readonly Failure[];
}

/**
 * Plans the next parts of a correction: reads matching events, and decides what each will be. Writes nothing but the
 * plan.
 */
export async function planStep(deps: EngineDeps, correction: OpenCorrection): Promise<StepResult> {
  const { project } = correction;
  const history = await historyOf(deps, project);
  const selection = await selectionOf(deps, correction);
  const found = await matchingPage(history, selection, correction, partsPerStep(deps) * partSize(deps));
  const bounds = { bytesMax: STEP_BYTES_MAX, idsMin: 1 };
  const { revisions, idCount } = await firstRevisions(history, found.ids, bounds);
  const isWhole = idCount === found.ids.length;
  const page = isWhole ? found : { ...found, ids: found.ids.slice(0, idCount), isEnd: false };
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
  const { eventsTotal: known } = correction;
  const { events: eventsTotal, isExact } =
    known === null ? await countMatching(history, selection) : { events: known, isExact: false };
  if (isExact) checkSize(deps, eventsTotal);
  const decided = await decide(deps, correction, matching);
  await store(deps, correction, { found: decided, page, eventsTotal });
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
  const { project } = correction;
  const prices = new TotalPrices(deps.ruleSets, project);
  const inForce = (row: UsageEventRow) => countsInForce(project, prices, row, idOf(row));
  if (correction.action === 'void') {
    const planned: PlannedEvent[] = [];
    for (const former of rows) {
      if (former.status === 'voided') continue;
      planned.push({ id: idOf(former), former, outcome: voided(former), counts: await inForce(former) });
    }
    return { matched: rows.length, planned, failed: [] };
  }
  const rating = await ratingOf(deps, correction);
  const replacement = correction.request.replacement;
  const failed: Failure[] = [];
  const rerated: RatedAgain[] = [];
  for (const former of rows) {
    const event = replacement === null ? former : replaced(former, replacement);
    const result = await rating.rate(event);
    if (!result.ok) failed.push(result.failure);
    else rerated.push({ former, result });
  }
  const completed = await transaction(deps.postgres, (tx) => withAccounts(tx, deps, project, rerated));
  const planned: PlannedEvent[] = [];
  for (const { former, result } of completed) {
    if (!result.ok) {
      failed.push(result.failure);
      continue;
    }
    const outcome = replacement === null ? result.outcome : sent(replacement, result.outcome);
    const counts = [...(await inForce(former)), ...result.counts];
    // The amounts of counted items are not known before all are counted.
    if (counts.length > 0 || isChanged(former, withRemaining(former, outcome)))
      planned.push({ id: idOf(former), former, outcome, counts });
  }
  return { matched: rows.length, planned, failed };
}

/** Remainders of earlier corrections stay on their event. */
function withRemaining(former: UsageEventRow, outcome: Outcome): Outcome {
  return { ...outcome, items: [...outcome.items, ...remaindersOf(former)] };
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
  const changes = new EventChanges();
  const known = planned.filter(({ counts }) => counts.length === 0);
  for (const { former, outcome } of known) changes.add(former, former, nextOf(former, outcome));
  const parts = await partsOf(deps, correction, planned);
  await inStep(deps, correction, async (_tx, db, now) => {
    for (const [index, { counts, ...part }] of parts.entries()) {
      const no = now.partCount + index;
      await insertPart(db, id, { ...part, no });
      await insertCounts(db, id, no, counts);
    }
    await addChangedTotals(db, id, 'planned', changes.totals());
    const numbers = {
      eventsTotal: Math.max(eventsTotal, now.eventsMatched + matched),
      eventsMatched: now.eventsMatched + matched,
      eventsChanged: now.eventsChanged + known.length,
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
      examples: changes.examplesWith(await readExamples(db, id)),
    });
  });
}

function nextOf(former: UsageEventRow, outcome: Outcome): UsageEventRow {
  const content = withOutcome(former, outcome);
  return countedRow({ current: former, content, taken: [], put: [], isCounted: () => true });
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
      counts: events.flatMap(({ counts }) => counts),
      outcomes: await encodeOutcomes(action === 'void' ? [] : events.map(({ outcome }) => outcome)),
    })),
  );
}
