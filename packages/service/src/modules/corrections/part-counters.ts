import { groupBy } from '../../kernel/maps.js';
import { present } from '../../kernel/present.js';
import { slotOf } from '../../kernel/shard.js';
import type { Tx } from '../../platform/postgres/index.js';
import {
  type CountableItem,
  type CounterPeriod,
  keepsValues,
  lockCounters,
  storedPeriods,
  writeCounters,
} from '../counters/index.js';
import type { CorrectedEvent } from '../pipeline/index.js';
import { TotalPrices, totalsOfItem } from '../rules/index.js';
import { hasRemainder } from '../usage/index.js';
import { counterMoved } from './changed-event.js';
import { idOf, type OpenCorrection } from './correction.js';
import { periodKey } from './count.js';
import { type CountRun, type CountVerb, itemsWithValues, runCounts, sidesOf } from './count-run.js';
import { expectStates, periodsOfPart, type StoredPeriod } from './counted-periods-store.js';
import { countedRow, type RowToCount } from './counted-row.js';
import { type CountResult, countsOfPart, type KeyedCount } from './counts-store.js';
import type { EngineDeps, PartInStep } from './engine.js';
import {
  closePeriod,
  noEventLeft,
  type PartEvent,
  type PartOfPeriod,
  type PartPeriod,
  withPriceChange,
} from './part-closing.js';
import { chargedByPeriod, periodOfRemainder, remaindersOf } from './remainder.js';

/**
 * Takes the charge items of a part out of their counters, puts the next ones in, and returns the events with the
 * amounts. Counters are read and written under their lock, until the commit.
 *
 * A period of which no other part changes anything is counted again if it was changed since the plan; so is one that a
 * revert changes. Where several parts change it, each applies its planned amounts, and the last one closes the period.
 *
 * @throws ChangedEventError if a period was changed, and the correction wants exactly its plan; or if an event that
 * fails again would have to keep an amount
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
  checkFailing(events, counts);
  if (counts.length === 0) return events.map(carried);
  await lockCounters(tx, [slotOf(project.projectNo)]);
  const prices = new TotalPrices(deps.ruleSets, project);
  const run: CountRun = { db, correctionId: id, prices, verb };
  const periods = await openPeriods(run, correction, step, counts);
  const results = new Map<string, CountResult>();
  for (const each of periods) await recount(run, part.no, each, results);
  // Later corrections may have left amounts of other periods on these events: a revert does not move those periods.
  const restored = new Set(periods.flatMap(({ name, target }) => (target === undefined ? name : [])));
  const isCounted = (name: string) => verb === 'apply' || !restored.has(name);
  const changed = rowsToCount(step, verb, withResults(counts, results), isCounted);
  const moves = movesOf(periods, changed);
  for (const each of periods) {
    const ofPeriod = present(moves.get(each.name), 'the moves of a period');
    await withPriceChange(run, part.no, each, () => move(each, ofPeriod));
    await closePeriod(run, part.no, each, ofPeriod);
  }
  const moved = periods.map(({ period }) => period);
  for (const { state, counter } of moved) {
    if (state.itemCount === 0 && state.amount !== 0n)
      throw new Error(`the counter ${counter.definition.name} is empty, and has an amount`);
  }
  await writeCounters(
    tx,
    moved.filter(({ isStored, state }) => isStored || state.itemCount > 0),
  );
  const states = periods.map(({ stored, period, isMoved, priceChange, closingAmount }) => ({
    ...stored,
    ...{ expected: { ...stored.expected, ...period.state }, isMoved, priceChange, closingAmount },
  }));
  await expectStates(db, id, states);
  return changed.map(({ current, next }) => ({ former: current, next }));
}

/** @throws ChangedEventError if an event that fails again has a remainder of a period that the part does not move */
function checkFailing(events: readonly CorrectedEvent[], counts: readonly KeyedCount[]): void {
  const moved = new Set(counts.map((count) => count.periodKey));
  for (const { former, next } of events) {
    if (next.status !== 'failed') continue;
    const left = remaindersOf(former).find((item) => !moved.has(periodOfRemainder(item)));
    if (left !== undefined) throw noEventLeft(totalsOfItem(left.cumulative).counter);
  }
}

/** Remainders stay on their event, also where nothing is counted. */
function carried(event: CorrectedEvent): CorrectedEvent {
  const { former, next } = event;
  if (!hasRemainder(former) && !hasRemainder(next)) return event;
  const row = { current: former, content: next, taken: [], put: [], isCounted: () => true };
  return { former, next: countedRow(row) };
}

/** Reads the periods of a part, with the values that will be wanted. */
async function openPeriods(
  run: CountRun,
  correction: OpenCorrection,
  { tx, db, part }: PartInStep,
  counts: readonly KeyedCount[],
): Promise<PartPeriod[]> {
  const { id, project, counters } = correction;
  const stored = await periodsOfPart(db, project, id, part.no);
  const ofPeriod = groupBy(counts, (count) => count.periodKey);
  const opened = await readWithValues(tx, stored, (each) => ofPeriod.get(periodKey(each)) ?? []);
  const periods = stored.map((each): PartPeriod => {
    const period = present(opened.get(each), 'a period of a part');
    const isMoved = hasMoved(each, period);
    if (isMoved && run.verb === 'apply' && counters === 'exact')
      throw counterMoved(`The counter ${each.counter.definition.name} was changed after the plan.`);
    const name = periodKey(each);
    const { priceChange, closingAmount } = each;
    const moves = { isMoved: isMoved || each.isMoved, priceChange, closingAmount };
    return { stored: each, name, period, ...moves, target: undefined };
  });
  // These may be counted again: with the items of the whole correction, which may be many.
  const again = periods.filter(({ isMoved, stored: { lastPart } }) => isMoved && lastPart === part.no);
  const items = new Map<StoredPeriod, readonly CountableItem[]>();
  for (const each of again) items.set(each.stored, await itemsWithValues(run, each.stored));
  const reread = await readWithValues(tx, [...items.keys()], (each) => items.get(each) ?? []);
  return periods.map((each) => ({ ...each, period: reread.get(each.stored) ?? each.period }));
}

/** Whether a period is not as it is expected. A correction can change its values, and nothing else. */
function hasMoved({ expected, correctionCount, counter }: StoredPeriod, { state }: CounterPeriod): boolean {
  const { quantity, amount, itemCount, correctionCount: corrections = correctionCount } = expected;
  if (state.quantity !== quantity || state.amount !== amount || state.itemCount !== itemCount) return true;
  return keepsValues(counter.definition) && correctionCount !== corrections;
}

/** @throws ChangedEventError if another period contains a part of the time of one */
async function readWithValues(
  tx: Tx,
  periods: readonly StoredPeriod[],
  itemsOf: (period: StoredPeriod) => readonly CountableItem[],
): Promise<Map<StoredPeriod, CounterPeriod>> {
  const found = await storedPeriods(
    tx,
    periods.map((each) => ({ ...each, items: itemsOf(each) })),
  );
  return new Map(
    periods.map((each, index) => {
      const period = found[index];
      if (period !== undefined) return [each, period];
      throw counterMoved(
        `Another period of the counter ${each.counter.definition.name} has begun since the plan.`,
      );
    }),
  );
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
  if (failure !== undefined) throw counterMoved(`${failure.message} Its counter was changed after the plan.`);
  each.target = copy.state.amount;
  each.isMoved = false;
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

/** The changes that the events of a part make to a period. */
interface PeriodMoves extends PartOfPeriod {
  readonly taken: KeyedCount[];
  readonly put: KeyedCount[];
  /** The change of what rows charge in the period. */
  amount: bigint;
  last: PartEvent | undefined;
  hasFailed: boolean;
}

/** Returns the changes of each period, in one pass over the events: a part can have as many periods as events. */
function movesOf(periods: readonly PartPeriod[], events: readonly PartEvent[]): Map<string, PeriodMoves> {
  const moves = new Map(
    periods.map(({ name }): [string, PeriodMoves] => [
      name,
      { taken: [], put: [], amount: 0n, last: undefined, hasFailed: false },
    ]),
  );
  for (const event of events) {
    const { current, next, taken, put } = event;
    for (const [name, amount] of chargedByPeriod(next, put)) addAmount(moves, name, amount);
    for (const [name, amount] of chargedByPeriod(current, taken)) addAmount(moves, name, -amount);
    for (const count of taken) moves.get(count.periodKey)?.taken.push(count);
    for (const count of put) moves.get(count.periodKey)?.put.push(count);
    for (const { periodKey: name } of [...taken, ...put]) {
      const found = moves.get(name);
      if (found === undefined) continue;
      if (next.status === 'failed') found.hasFailed = true;
      else found.last = event;
    }
  }
  return moves;
}

/** Other periods, in which remainders are, stay as they are. */
function addAmount(moves: ReadonlyMap<string, PeriodMoves>, name: string, amount: bigint): void {
  const found = moves.get(name);
  if (found !== undefined) found.amount += amount;
}

/** Moves a period by what the events of the part change, and by nothing else. */
function move({ period }: PartPeriod, { taken, put, amount }: PeriodMoves): void {
  for (const count of taken) period.remove(count);
  for (const count of put) {
    if (period.count(count) === undefined)
      throw counterMoved(`The counter ${period.counter.definition.name} has no room for the charge items.`);
  }
  period.charge(amount, put.at(-1)?.rule ?? period.state);
}
