import { groupBy } from '../../kernel/maps.js';
import { slotOf } from '../../kernel/shard.js';
import { type CounterPeriod, lockCounters, storedPeriods, writeCounters } from '../counters/index.js';
import type { CorrectedEvent } from '../pipeline/index.js';
import { RatingFailure, TotalPrices } from '../rules/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { ChangedEventError } from './changed-event.js';
import { idOf, type OpenCorrection } from './correction.js';
import { periodKey } from './count.js';
import { type CountRun, type CountVerb, itemsWithValues, pagesOf, runCounts, sidesOf } from './count-run.js';
import { expectState, periodsOfPart, type StoredPeriod } from './counted-periods-store.js';
import { countedRow, type RowToCount, withRemainder } from './counted-row.js';
import { type CountResult, countsOfPart, type KeyedCount, sumOfCounts } from './counts-store.js';
import type { EngineDeps, PartInStep } from './engine.js';
import { chargedIn, hasRemainder } from './remainder.js';

/** A period that the part changes. */
interface PartPeriod {
  readonly stored: StoredPeriod;
  readonly name: string;
  readonly period: CounterPeriod;
  readonly isMoved: boolean;
  /** The amount that the period must have after the part; undefined if it follows from the planned amounts. */
  target: bigint | undefined;
}

/** An event of the part, with its next row. */
interface PartEvent extends RowToCount {
  next: UsageEventRow;
}

/**
 * Takes the charge items of a part out of their counters, puts the next ones in, and returns the events with the
 * amounts. Counters are read and written under their lock, until the commit.
 *
 * A period of which no other part changes anything is counted again if it was changed since the plan; so is one that a
 * revert changes. Where several parts change it, each applies its planned amounts, and the last one adds what makes up
 * for the changes meanwhile: as if all parts had been applied at once, at the end.
 *
 * @throws ChangedEventError if a period was changed, and the correction wants exactly its plan
 */
export async function countPart(
  deps: EngineDeps,
  correction: OpenCorrection,
  verb: CountVerb,
  step: PartInStep,
): Promise<readonly CorrectedEvent[]> {
  const { tx, db, part, events } = step;
  const { id, project } = correction;
  const all = await countsOfPart(db, id, part.no);
  const counts = all.filter(({ isFailed, isKept }) => !isFailed && !isKept);
  if (counts.length === 0) return verb === 'revert' ? events : events.map(carried);
  await lockCounters(tx, [slotOf(project.projectNo)]);
  const prices = new TotalPrices(deps.ruleSets, project);
  const run: CountRun = { db, correctionId: id, prices, verb };
  const periods = await openPeriods(run, correction, step);
  const results = new Map<string, CountResult>();
  for (const each of periods) await recount(run, part.no, each, results);
  const isCounted = (name: string) =>
    verb === 'apply' || periods.some((each) => each.name === name && each.target !== undefined);
  const changed = rowsToCount(step, verb, withResults(counts, results), isCounted);
  movePeriods(periods, changed);
  for (const each of periods) await close(run, part.no, each, changed);
  const moved = periods.map(({ period }) => period);
  for (const { state, counter } of moved) {
    if (state.itemCount === 0 && state.amount !== 0n)
      throw new Error(`the counter ${counter.definition.name} is empty, and has an amount`);
  }
  await writeCounters(
    tx,
    moved.filter(({ isStored, state }) => isStored || state.itemCount > 0),
  );
  for (const { stored, period, isMoved } of periods) {
    const { closingAmount } = stored;
    await expectState(db, id, { ...stored, expected: period.state, isMoved, closingAmount });
  }
  return changed.map(({ current, next }) => ({ former: current, next }));
}

/** Remainders stay on their event, also where nothing is counted. */
function carried(event: CorrectedEvent): CorrectedEvent {
  const { former, next } = event;
  if (!hasRemainder(former) && !hasRemainder(next)) return event;
  const row = { current: former, content: next, taken: [], put: [], isCounted: () => true };
  return { former, next: countedRow(row) };
}

async function openPeriods(
  run: CountRun,
  { id, project, counters }: OpenCorrection,
  { tx, db, part }: PartInStep,
): Promise<PartPeriod[]> {
  const stored = await periodsOfPart(db, project, id, part.no);
  const wanted = await Promise.all(
    stored.map(async (period) => ({
      ...period,
      // All of the correction, because the period may be counted again.
      items: await itemsWithValues(run, period),
    })),
  );
  const found = await storedPeriods(tx, wanted);
  return stored.map((each, index) => {
    const period = found[index];
    const { name } = each.counter.definition;
    if (period === undefined) throw moved(`Another period of the counter ${name} has begun since the plan.`);
    const { quantity, amount, itemCount } = each.expected;
    const { state } = period;
    const isMoved = state.quantity !== quantity || state.amount !== amount || state.itemCount !== itemCount;
    if (isMoved && run.verb === 'apply' && counters === 'exact')
      throw moved(`The counter ${name} was changed after the plan.`);
    return {
      stored: each,
      name: periodKey(each),
      period,
      isMoved: isMoved || each.isMoved,
      target: undefined,
    };
  });
}

/** Counts a period of this part alone again if it was changed. */
async function recount(
  run: CountRun,
  partNo: number,
  each: PartPeriod,
  results: Map<string, CountResult>,
): Promise<void> {
  const { stored, period, isMoved } = each;
  if (!isMoved || stored.firstPart !== partNo || stored.lastPart !== partNo) return;
  const copy = period.copy();
  const failure = await runCounts(run, stored, copy, (page) => {
    for (const result of page) results.set(nameOf(each.name, result), result);
  });
  if (failure !== undefined) throw moved(`${failure.message} Its counter was changed after the plan.`);
  each.target = copy.state.amount;
}

function nameOf(
  name: string,
  { side, eventId, item }: Pick<CountResult, 'side' | 'eventId' | 'item'>,
): string {
  return `${name} ${side} ${eventId} ${item}`;
}

function withResults(counts: readonly KeyedCount[], results: ReadonlyMap<string, CountResult>): KeyedCount[] {
  return counts.map((count) => {
    const found = results.get(nameOf(count.periodKey, count));
    if (found === undefined) return count;
    const { amount, given, before, after } = found;
    return { ...count, amount, given, before, after };
  });
}

function rowsToCount(
  { events }: PartInStep,
  verb: CountVerb,
  counts: readonly KeyedCount[],
  isCounted: RowToCount['isCounted'],
): PartEvent[] {
  const { taken, put } = sidesOf(verb);
  const byEvent = groupBy(counts, ({ eventId }) => eventId);
  return events.map(({ former, next }) => {
    const ofEvent = byEvent.get(idOf(former)) ?? [];
    const row = {
      current: former,
      content: next,
      taken: ofEvent.filter(({ side }) => side === taken),
      put: ofEvent.filter(({ side }) => side === put),
      isCounted,
    };
    return { ...row, next: countedRow(row) };
  });
}

/** Moves the periods by what the events of the part change, and by nothing else. */
function movePeriods(periods: readonly PartPeriod[], events: readonly PartEvent[]): void {
  for (const { name, period } of periods) {
    const isOf = (count: KeyedCount) => count.periodKey === name;
    for (const { taken } of events) for (const count of taken.filter(isOf)) period.remove(count);
    const put = events.flatMap((event) => event.put.filter(isOf));
    for (const count of put) {
      if (period.count(count) === undefined)
        throw moved(`The counter ${period.counter.definition.name} has no room for the charge items.`);
    }
    let amount = 0n;
    for (const event of events) {
      amount += chargedIn(event.next, name, event.put) - chargedIn(event.current, name, event.taken);
    }
    period.charge(amount, put.at(-1)?.rule ?? period.state);
  }
}

/** Adds to the last event of a period what the period still lacks. */
async function close(
  run: CountRun,
  partNo: number,
  each: PartPeriod,
  events: readonly PartEvent[],
): Promise<void> {
  const { stored, period, name } = each;
  const target = each.target ?? (await targetOf(run, partNo, each));
  if (target === undefined || target === period.state.amount) return;
  const event = events.findLast(
    ({ taken, put, next }) =>
      next.status !== 'failed' && [...taken, ...put].some((count) => count.periodKey === name),
  );
  if (event === undefined) return;
  const amount = target - period.state.amount;
  event.next = withRemainder(event, event.next, name, amount);
  period.addAmount(amount);
  each.target = target;
  Object.assign(stored, { closingAmount: amount });
}

/** Returns the amount that a period would have if all parts were counted now; undefined if nothing has changed it. */
async function targetOf(
  run: CountRun,
  partNo: number,
  { stored, period, isMoved }: PartPeriod,
): Promise<bigint | undefined> {
  if (!isMoved || stored.lastPart !== partNo || stored.firstPart === partNo) return undefined;
  const { db, correctionId, verb } = run;
  const { taken, put } = sidesOf(verb);
  const copy = period.copy();
  for await (const page of pagesOf(run, stored, put)) for (const count of page) copy.remove(count);
  for await (const page of pagesOf(run, stored, taken)) for (const count of page) copy.count(count);
  const applied = (await sumOfCounts(db, correctionId, stored)) + stored.closingAmount;
  copy.addAmount(verb === 'apply' ? -applied : applied);
  const failure = await runCounts(run, stored, copy, () => {});
  if (failure instanceof RatingFailure)
    throw moved(`${failure.message} Its counter was changed after the plan.`);
  return copy.state.amount;
}

function moved(problem: string): ChangedEventError {
  return new ChangedEventError('correction_stale', `${problem} Revert the correction, or plan it again.`);
}
