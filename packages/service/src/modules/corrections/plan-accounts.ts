import type { ProjectRef } from '../../kernel/scope.js';
import type { Tx } from '../../platform/postgres/index.js';
import { BatchCounters, type CountedEvent, type EventToCount } from '../counters/index.js';
import { BatchPosting, type PreparedPostings, type RatedUsage } from '../limits/index.js';
import type { ChargeItem, RatedEvent } from '../rules/index.js';
import { storedCountsOf } from '../trial/index.js';
import { isPostedByRemainder, type UsageEventRow } from '../usage/index.js';
import { idOf } from './correction.js';
import { NOT_RATED_MS, type PeriodCount, totalRuleOf } from './count.js';
import type { EngineDeps } from './engine.js';
import type { Outcome } from './outcome.js';
import type { Rerated } from './rating.js';

/** An event that was rated again. */
export interface RatedAgain {
  readonly former: UsageEventRow;
  readonly result: Extract<Rerated, { ok: true }>;
}

/** The same with its account, and with the periods of its counted items. */
export interface Completed extends Pick<RatedAgain, 'former'> {
  readonly result:
    | { readonly ok: true; readonly outcome: Outcome; readonly counts: readonly PeriodCount[] }
    | Extract<Rerated, { ok: false }>;
}

/**
 * Adds the account of each event: that which was debited for its items, if the subject is still the same; otherwise
 * that of the subject's route now. It decides which counters of accounts the items are in.
 */
export async function withAccounts(
  tx: Tx,
  { limits, clock }: EngineDeps,
  project: ProjectRef,
  events: readonly RatedAgain[],
): Promise<Completed[]> {
  const posting = new BatchPosting(tx, limits, clock.nowMs());
  const prepared = await posting.prepare([
    { scope: project, events: events.map((each) => usageOf(each, [])) },
  ]);
  const counting = events.filter(({ result }) => result.counting !== undefined);
  const toCount = counting.flatMap((each) => eventToCount(project, prepared, each) ?? []);
  const counted = await new BatchCounters(tx, { kind: 'write' }).prepare(toCount);
  const countedOf = new Map(counting.map((each, index) => [each, counted[index]]));
  return events.map((each): Completed => {
    const { former, result } = each;
    const ofEvent = countedOf.get(each);
    const found = ofEvent === undefined ? undefined : draftOf(each, ofEvent);
    if (found?.rated.ok === false) return { former, result: { ok: false, failure: found.rated.failure } };
    const { items, notes } = found?.rated.ok === true ? draftedOf(found.rated) : result.outcome;
    const { posting: routed } = prepared.of(project, usageOf(each, items));
    const accountId = accountOf(project, prepared, each);
    const posted = routed === 'unpriced' ? 'unpriced' : accountId === '' ? 'unrouted' : 'posted';
    const outcome = { ...result.outcome, items, notes, posting: posted, accountId } as const;
    return { former, result: { ok: true, outcome, counts: found?.counts(outcome) ?? [] } };
  });
}

function draftedOf({ items, notes }: Extract<RatedEvent, { ok: true }>) {
  return { items, notes: notes.length === 0 ? '' : JSON.stringify(notes) };
}

/** An account that only pays what is left of former usage does not pay for what is rated now. */
function accountOf(project: ProjectRef, prepared: PreparedPostings, each: RatedAgain): string {
  const { former, result } = each;
  const isKept =
    former.posting === 'posted' &&
    !isPostedByRemainder(former) &&
    former.subjectType === result.outcome.subjectType &&
    former.subjectId === result.outcome.subjectId;
  return isKept ? former.accountId : prepared.of(project, usageOf(each, [])).accountId;
}

function eventToCount(
  project: ProjectRef,
  prepared: PreparedPostings,
  each: RatedAgain,
): EventToCount | undefined {
  const { counting } = each.result;
  if (counting === undefined) return undefined;
  const usage = usageOf(each, []);
  const { subject, occurredAt } = usage;
  const accountId = accountOf(project, prepared, each);
  const settings = prepared.routeOf(project, usage)?.settings;
  return { scope: project, subject, occurredAt, accountId, settings, counting };
}

/** Returns the event without amounts by totals, and what it puts into counters. */
function draftOf({ former }: RatedAgain, { counting, periods }: CountedEvent) {
  const inCounters = periods.map((period) => period !== undefined);
  // Without any counter nothing is left open.
  const rated: RatedEvent = inCounters.includes(true)
    ? counting.draft(inCounters)
    : counting.price(periods.map(() => undefined));
  const counts = (outcome: Outcome): PeriodCount[] => {
    const places = outcome.items.flatMap(({ cumulative }, index) => (cumulative === '' ? [] : [index]));
    const ratedAtMs = former.status === 'failed' ? NOT_RATED_MS : former.processedAtMs;
    const storedCount = storedCountsOf(former.items);
    let next = 0;
    return counting.counted.flatMap((item, index) => {
      const period = periods[index];
      if (period === undefined) return [];
      const place = places[next++] ?? -1;
      const charged = outcome.items[place];
      if (charged === undefined) throw new Error('a counted item has no charge item');
      const { counter, key, startS, endS } = period;
      const { before, after, amount = 0n } = storedCount(item, startS) ?? {};
      const count: PeriodCount['count'] = {
        ...{ side: 'in' as const, eventId: idOf(former), item: place, rule: totalRuleOf(outcome, charged) },
        ...{ quantity: item.quantity, value: item.value, ratedAtMs, before, after, amount },
        ...{ given: 0n, isFailed: false, isKept: false },
      };
      return [{ period: { counter, key, startS, endS }, count }];
    });
  };
  return { rated, counts };
}

function usageOf({ former, result }: RatedAgain, items: readonly ChargeItem[]): RatedUsage {
  const { subjectType: type, subjectId: id, dimensions } = result.outcome;
  const { occurredAt } = former;
  return { occurredAt, subject: id === '' ? undefined : { type, id }, dimensions, items, budgetLeaseId: '' };
}
