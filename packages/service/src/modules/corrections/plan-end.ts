import { CORRECTION_EVENTS_MAX } from '@tollgate/contract';
import { groupBy } from '../../kernel/maps.js';
import { present } from '../../kernel/present.js';
import { ProjectDb } from '../../platform/postgres/index.js';
import type { CorrectedEvent } from '../pipeline/index.js';
import { revisionRows } from '../usage/index.js';
import { differenceFromBacktest } from './backtest.js';
import { ChangedExamples, ChangedTotals } from './changes.js';
import { type OpenCorrection, PlanFailure, type StepResult, type StoredCorrection } from './correction.js';
import { type CorrectionChange, changeCorrection, readExamples } from './correction-store.js';
import { type FailedCount, failedCounts, findParts, keepEvents } from './counted-periods-store.js';
import { countedRow } from './counted-row.js';
import { countsOfPart, type KeyedCount } from './counts-store.js';
import { type EngineDeps, inStep, revisionOf } from './engine.js';
import { isChanged, type Outcome, voided, withOutcome } from './outcome.js';
import { addChangedTotals, type CorrectionPart, deleteParts, narrowPart, readPart } from './part-store.js';
import { historyOf } from './step-rows.js';
import { decodeOutcomes, StoredOutcomes } from './stored-outcomes.js';

/** The numbers that a plan has found until now. */
export interface PlanProgress {
  readonly eventsMatched: number;
  readonly eventsChanged: number;
  readonly eventsFailed: Readonly<Record<string, number>>;
  /** The first failure of the step. */
  readonly failure: { readonly code: string; readonly message: string } | undefined;
  /** Whether nothing is left to plan. */
  readonly isEnd: boolean;
}

/** @throws PlanFailure `correction_too_large` if more events match than a correction may have */
export function checkSize({ eventsMax = CORRECTION_EVENTS_MAX }: EngineDeps, events: number): void {
  if (events <= eventsMax) return;
  throw new PlanFailure(
    'correction_too_large',
    `At least ${events} events match, and a correction takes at most ${eventsMax} (CORRECTION_EVENTS_MAX). Narrow the filter.`,
  );
}

/** Adds failures to their numbers by code. */
export function withFailures(
  known: Readonly<Record<string, number>>,
  failures: readonly { readonly code: string }[],
): Record<string, number> {
  const numbers = { ...known };
  for (const { code } of failures) numbers[code] = (numbers[code] ?? 0) + 1;
  return numbers;
}

/** Changes a correction after a step of its plan; ends the plan if it is complete, or has failed. */
export async function endPlanStep(
  deps: EngineDeps,
  correction: OpenCorrection,
  db: ProjectDb,
  progress: PlanProgress,
  change: CorrectionChange,
): Promise<void> {
  const { id } = correction;
  const difference = progress.isEnd
    ? await differenceFromBacktest(db, { ...correction, ...progress })
    : undefined;
  const end =
    difference === undefined
      ? endOfPlan(deps, correction, progress)
      : failedPlan('backtest_stale', `${difference} Run the backtest again.`);
  await changeCorrection(db, id, { ...change, ...end });
  // A plan that has failed is never applied, and may have many parts.
  if (end.status === 'failed') await deleteParts(db, id);
}

function endOfPlan(
  deps: EngineDeps,
  { eventId, isAppliedAtOnce }: OpenCorrection,
  { eventsMatched, eventsChanged, failure, isEnd }: PlanProgress,
): CorrectionChange {
  checkSize(deps, eventsMatched);
  if (eventId !== null && failure !== undefined) {
    return failedPlan(failure.code, failure.message);
  }
  if (!isEnd) return {};
  const nowMs = deps.clock.nowMs();
  const planned = { phase: 'parts', nextPart: 0, plannedAtMs: nowMs } as const;
  if (!isAppliedAtOnce) return { status: 'planned', ...planned };
  if (eventsChanged > 0) return { status: 'applying', ...planned };
  return { status: 'applied', ...planned, appliedAtMs: nowMs };
}

function failedPlan(failureCode: string, failureMessage: string): CorrectionChange {
  return { status: 'failed', failureCode, failureMessage };
}

/**
 * Ends the plan of the next part, when all items are counted: finds which of its events change, and by how much. Only
 * events with counted items were left open.
 */
export async function finishStep(deps: EngineDeps, correction: OpenCorrection): Promise<StepResult> {
  const { id, nextPart, project, partCount } = correction;
  const stored = new ProjectDb(deps.postgres.db, project);
  const part = await readPart(stored, id, nextPart);
  const counts = part === undefined ? [] : await countsOfPart(stored, id, nextPart);
  const failed = await failedCounts(stored, id, nextPart);
  const events =
    part === undefined || counts.length === 0 ? [] : await openEvents(deps, correction, part, counts, failed);
  const totals = new ChangedTotals();
  const examples = new ChangedExamples();
  for (const { former, next, isOpen, isKept } of events) {
    if (!isOpen || isKept) continue;
    totals.add(former, next);
    examples.add(former, former, next);
  }
  await inStep(deps, correction, async (_tx, db, now) => {
    if (part !== undefined && events.length > 0) await keep(db, correction, part, events);
    await addChangedTotals(db, id, 'planned', totals.totals());
    const isEnd = nextPart + 1 >= partCount;
    if (isEnd) await findParts(db, id);
    const counted = {
      eventsFailed: withFailures(now.eventsFailed, failed),
      eventsChanged: now.eventsChanged + events.filter(({ isOpen, isKept }) => isOpen && !isKept).length,
    };
    const progress = { ...now, ...counted, failure: failed[0], isEnd };
    await endPlanStep(deps, correction, db, progress, {
      ...counted,
      nextPart: nextPart + 1,
      examples: examples.with(await readExamples(db, id)),
    });
  });
  return 'done';
}

/** An event of a part whose items are counted. */
interface FinishedEvent extends CorrectedEvent {
  readonly id: string;
  readonly outcome: Outcome;
  /** Whether the event has counted items, and its result was not known before. */
  readonly isOpen: boolean;
  /** Whether it stays as it is. */
  readonly isKept: boolean;
}

async function openEvents(
  deps: EngineDeps,
  { action, project }: StoredCorrection & Pick<OpenCorrection, 'project'>,
  { ids, formerRevisions, outcomes: encoded }: CorrectionPart,
  counts: readonly KeyedCount[],
  failed: readonly FailedCount[],
): Promise<FinishedEvent[]> {
  const revisions = await revisionRows(await historyOf(deps, project), ids);
  const outcomes = action === 'void' ? undefined : await decodeOutcomes(encoded);
  const byEvent = groupBy(counts, ({ eventId }) => eventId);
  const failing = new Set(failed.map(({ eventId }) => eventId));
  return ids.map((id, index) => {
    // Another correction may have changed the event meanwhile: then this one will not be applied to it.
    const former = revisions.of(id)?.find((row) => revisionOf(row) === formerRevisions[index]);
    const row = present(former, `the planned revision of evt_${id}`);
    const outcome = outcomes === undefined ? voided(row) : present(outcomes[index], 'a planned outcome');
    const ofEvent = byEvent.get(id) ?? [];
    const next = countedRow({
      current: row,
      content: withOutcome(row, outcome),
      taken: ofEvent.filter(({ side }) => side === 'out'),
      put: ofEvent.filter(({ side }) => side === 'in'),
      isCounted: () => true,
    });
    const isFailed = failing.has(id);
    const isKept = isFailed || (ofEvent.length > 0 && !isChanged(row, { ...outcome, ...next }));
    return { id, outcome, former: row, next, isOpen: ofEvent.length > 0 && !isFailed, isKept };
  });
}

/** Leaves the events out that stay as they are. Their counts go on to be part of what is counted together. */
async function keep(
  db: ProjectDb,
  { id, action }: OpenCorrection,
  { no, formerAttempts, formerRevisions }: CorrectionPart,
  events: readonly FinishedEvent[],
): Promise<void> {
  const kept = events.filter(({ isKept }) => isKept);
  if (kept.length === 0) return;
  await keepEvents(
    db,
    id,
    no,
    kept.map((event) => event.id),
  );
  const isChanging = (_: unknown, index: number) => events[index]?.isKept === false;
  const changing = events.filter(({ isKept }) => !isKept);
  const outcomes = new StoredOutcomes();
  if (action !== 'void') for (const { outcome } of changing) outcomes.add(outcome);
  await narrowPart(db, id, {
    no,
    ids: changing.map((event) => event.id),
    formerRevisions: formerRevisions.filter(isChanging),
    formerAttempts: formerAttempts.filter(isChanging),
    outcomes: await outcomes.encoded(),
  });
}
