import { present } from '../../kernel/present.js';
import { slotOf } from '../../kernel/shard.js';
import { ProjectDb, transaction } from '../../platform/postgres/index.js';
import { type CounterPeriod, lockCounters, MissingItemError, storedPeriods } from '../counters/index.js';
import { type RatingFailure, TotalPrices } from '../rules/index.js';
import { inOrderOfRating } from '../trial/index.js';
import { auditEnd } from './audit.js';
import { type OpenCorrection, PlanFailure, type StepResult } from './correction.js';
import { changeCorrection } from './correction-store.js';
import { NOT_RATED_MS } from './count.js';
import { type CountRun, itemsWithValues, runCounts } from './count-run.js';
import {
  correctionCountOf,
  dropCounts,
  failPeriod,
  markCounted,
  nextUncounted,
  type StoredPeriod,
} from './counted-periods-store.js';
import {
  countsWithoutOrder,
  orderCounts,
  sumOfCounts,
  writePositions,
  writeResults,
} from './counts-store.js';
import { type EngineDeps, inStep } from './engine.js';

/**
 * Counts the items of the next period: takes out all that the correction takes out of it, puts in all that it puts in,
 * and keeps the amounts. Writes nothing but the plan. A period is one step, and takes bounded memory: without locks on
 * the counter, because a part notices if it has moved.
 */
export async function countStep(deps: EngineDeps, correction: OpenCorrection): Promise<StepResult> {
  const { id, backtestId, project, status } = correction;
  const period = await nextUncounted(new ProjectDb(deps.postgres.db, project), project, id);
  if (period === undefined) {
    await inStep(deps, correction, (_tx, db) => changeCorrection(db, id, { phase: 'parts' }));
    return 'done';
  }
  const prices = new TotalPrices(deps.ruleSets, project);
  await inStep(deps, correction, async (tx, db) => {
    const run: CountRun = { db, correctionId: id, prices, verb: 'apply' };
    await orderCounts(db, id, period, 'out');
    if (backtestId === null) await orderCounts(db, id, period, 'in');
    else await orderByRating(db, id, period);
    const found = await readPeriod(deps, run, correction, period);
    const state = found && { ...found.period.state, correctionCount: found.correctionCount };
    const failure = await count(run, period, found?.period);
    if (typeof failure === 'string' || (failure !== undefined && status === 'applying')) {
      const problem = typeof failure === 'string' ? failure : failure.message;
      if (status === 'planning')
        throw new PlanFailure('correction_stale', `${problem} Plan the correction again.`);
      const failureMessage = `${problem} Plan the correction again. Events in force: 0.`;
      await changeCorrection(db, id, { status: 'stale', failureCode: 'correction_stale', failureMessage });
      await dropCounts(db, id, 0);
      const end = { verb: 'apply', status: 'stale', eventsApplied: 0, nowMs: deps.clock.nowMs() } as const;
      await auditEnd(tx, db, correction, end);
    } else if (failure !== undefined) await failPeriod(db, id, period, failure);
    else {
      // Nothing is posted for events that stay as they are, also where the counter has moved since they were planned.
      const isMoved = (await sumOfCounts(db, id, period, { isKept: true })) !== 0n;
      await markCounted(db, id, { ...period, isMoved }, present(state, 'the state of a counted period'));
    }
  });
  return 'done';
}

/**
 * Counts the items of a period, and keeps their amounts. Returns why that is not possible: a failure of an item that is
 * put in, or a sentence where the counter has changed since the correction was planned.
 */
async function count(
  run: CountRun,
  wanted: StoredPeriod,
  period: CounterPeriod | undefined,
): Promise<RatingFailure | string | undefined> {
  const { db, correctionId } = run;
  const { name } = wanted.counter.definition;
  if (period === undefined) return `Another period of the counter ${name} has begun since the plan.`;
  try {
    return await runCounts(run, wanted, period, (results) => writeResults(db, correctionId, wanted, results));
  } catch (error) {
    if (!(error instanceof MissingItemError)) throw error;
    return `A charge item has left the counter ${name} since the plan.`;
  }
}

/**
 * Puts the items that a backtest has counted in its order, that of their rating, so that each costs what it has shown.
 * A backtest counts a bounded number of items. Items that are counted once more keep their order.
 */
async function orderByRating(db: ProjectDb, correctionId: string, period: StoredPeriod): Promise<void> {
  const counts = await countsWithoutOrder(db, correctionId, period);
  if (counts.length === 0) return;
  const places = counts.map(({ eventId, item, ratedAtMs, before, after, amount }) => ({
    ...{ eventId, item, place: item },
    ratedAtMs: ratedAtMs === NOT_RATED_MS ? undefined : ratedAtMs,
    stored: before === undefined || after === undefined ? undefined : { before, after, amount },
  }));
  await writePositions(db, correctionId, period, inOrderOfRating(places));
}

/** Reads a period under the lock of its counter, as it is between two transactions that count. */
async function readPeriod(
  { postgres }: EngineDeps,
  run: CountRun,
  { project }: OpenCorrection,
  wanted: StoredPeriod,
): Promise<{ readonly period: CounterPeriod; readonly correctionCount: number } | undefined> {
  const items = await itemsWithValues(run, wanted);
  return transaction(postgres, async (tx) => {
    await lockCounters(tx, [slotOf(project.projectNo)]);
    const [period] = await storedPeriods(tx, [{ ...wanted, items }]);
    return period && { period, correctionCount: await correctionCountOf(new ProjectDb(tx, project), wanted) };
  });
}
