import { groupBy, memoized } from '../../kernel/maps.js';
import {
  type Period,
  type TimeWindow,
  UTC_CALENDAR,
  type WindowSettings,
  windowAt,
  windowContains,
} from '../../kernel/period.js';
import { present } from '../../kernel/present.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { slotOf } from '../../kernel/shard.js';
import type { Tx } from '../../platform/postgres/index.js';
import type {
  ChargeItem,
  CountedItem,
  CounterTotals,
  CountingEvent,
  RatedEvent,
  RatingFailure,
} from '../rules/index.js';
import { type CountedOwner, type Counter, counterKey, counterKeyText, counterOf } from './counter.js';
import { CounterPeriod, countedValue, tooLarge } from './counter-period.js';
import * as store from './counter-store.js';

/** An event whose charge items are to be counted. */
export interface EventToCount extends CountedOwner {
  readonly scope: ProjectScope & { readonly projectNo: number };
  /** Unix seconds. */
  readonly occurredAt: number;
  /** The settings of the subject's route; undefined without a route. */
  readonly settings: WindowSettings | undefined;
  readonly counting: CountingEvent;
}

/** A counter whose periods the transaction has met. */
interface KnownCounter {
  readonly counter: Counter;
  readonly key: Buffer;
  /** In no order; they do not overlap. */
  readonly periods: CounterPeriod[];
}

/** A time that no known period contains. */
interface MissingPeriod {
  readonly known: KnownCounter;
  readonly occurredAt: number;
  readonly settings: WindowSettings;
}

/**
 * The counters that the events of one transaction move. Events are prepared in slices and priced one by one, in the
 * order in which they count; `write` stores the new totals.
 *
 * Counters of a project are read and written under the lock of its slot, from the first slice with a counter until the
 * commit. Slices must come in ascending order of slots, so that transactions cannot deadlock.
 */
export class BatchCounters {
  readonly #tx: Tx;
  readonly #isReader: boolean;
  readonly #known = new Map<string, KnownCounter>();
  readonly #accounts = new Map<string, WindowSettings>();
  readonly #askedValues = new Map<CounterPeriod, Set<string>>();
  /** The periods of the items of prepared events; undefined for an item without a counter. */
  readonly #periods = new Map<EventToCount, readonly (CounterPeriod | undefined)[]>();
  #lockedUpTo = -1;
  #undo: (() => void)[] = [];

  /** @param use a reader takes no locks, so that it delays nobody, and must not write */
  constructor(tx: Tx, use: 'write' | 'read' = 'write') {
    this.#tx = tx;
    this.#isReader = use === 'read';
  }

  /** Reads the periods of all counters that a slice of events moves. */
  async prepare(events: readonly EventToCount[]): Promise<void> {
    if (events.length === 0) return;
    if (!this.#isReader) await this.#lock(events);
    await this.#readAccounts(events);
    const counters = events.map((event) =>
      event.counting.counted.map((item) => this.#counterOf(event, item)),
    );
    const missing = events.flatMap((event, index) => this.#missingPeriods(event, counters[index] ?? []));
    if (missing.length > 0) await this.#readPeriods(missing);
    for (const [index, event] of events.entries()) {
      const periods = (counters[index] ?? []).map((known) => known && periodAt(known, event.occurredAt));
      this.#periods.set(event, periods);
    }
    if (!this.#isReader) await this.#readValues(events);
  }

  /** Returns the periods of the items of a prepared event; undefined for an item without a counter. */
  periodsOf(event: EventToCount): readonly (CounterPeriod | undefined)[] {
    return present(this.#periods.get(event), 'the counters of an event');
  }

  /** Counts the items of a prepared event, and ends its rating. An event that fails counts nothing. */
  price(event: EventToCount): RatedEvent {
    this.#undo = [];
    const totals: (CounterTotals | undefined)[] = [];
    const moved: CounterPeriod[] = [];
    const periods = this.periodsOf(event);
    this.#periods.delete(event);
    for (const [index, item] of event.counting.counted.entries()) {
      const period = periods[index];
      const counted = period?.count(item);
      if (period !== undefined && counted === undefined)
        return this.#failed(event, tooLarge(item.counter, item.path));
      totals.push(counted?.totals);
      if (period === undefined || counted === undefined) continue;
      moved.push(period);
      this.#undo.push(counted.undo);
    }
    const rated = event.counting.price(totals);
    if (!rated.ok) this.undo();
    else charge(moved, rated.items);
    return rated;
  }

  /** Takes back the event that was priced last. */
  undo(): void {
    for (const undo of this.#undo.toReversed()) undo();
    this.#undo = [];
  }

  /** Stores the totals. */
  async write(): Promise<void> {
    if (this.#isReader) throw new Error('counters were read without their locks');
    if (this.#known.size === 0) return;
    const periods = [...this.#known.values()]
      .flatMap((known) => known.periods)
      .filter(({ isChanged }) => isChanged);
    // A period whose only events were taken back again was never opened.
    const counted = periods.filter(({ itemCount, isStored }) => isStored || itemCount > 0);
    await store.writeCounters(this.#tx, counted);
  }

  #failed({ counting: { subject, dimensions } }: EventToCount, failure: RatingFailure): RatedEvent {
    this.undo();
    return { ok: false, failure, subject, dimensions };
  }

  async #lock(events: readonly EventToCount[]): Promise<void> {
    const slots = new Set(events.map(({ scope }) => slotOf(scope.projectNo)));
    const wanted = [...slots].filter((slot) => slot !== this.#lockedUpTo).sort((a, b) => a - b);
    const [first] = wanted;
    if (first === undefined) return;
    if (first < this.#lockedUpTo) throw new Error('slices of events are not in the order of their slots');
    await store.lockCounters(this.#tx, wanted);
    this.#lockedUpTo = present(wanted.at(-1), 'the last locked slot');
  }

  async #readAccounts(events: readonly EventToCount[]): Promise<void> {
    const missing = new Map<string, store.AccountRef>();
    for (const { scope, accountId, counting } of events) {
      if (accountId === '' || this.#accounts.has(accountId)) continue;
      if (counting.counted.some(({ counter }) => counter.per === 'account'))
        missing.set(accountId, { scope, accountId });
    }
    const found = await store.readAccountSettings(this.#tx, [...missing.values()]);
    for (const [id, settings] of found) this.#accounts.set(id, settings);
  }

  #missingPeriods(event: EventToCount, counters: readonly (KnownCounter | undefined)[]): MissingPeriod[] {
    const { occurredAt } = event;
    return counters.flatMap((known) => {
      if (known === undefined || known.periods.some((period) => period.contains(occurredAt))) return [];
      return { known, occurredAt, settings: this.#settingsOf(event, known.counter) };
    });
  }

  #settingsOf({ settings }: EventToCount, { definition: { per }, accountId }: Counter): WindowSettings {
    if (per === 'project') return UTC_CALENDAR;
    if (per === 'subject') return settings ?? UTC_CALENDAR;
    return present(this.#accounts.get(accountId), `the settings of the account ${accountId}`);
  }

  /** Reads stored periods, and opens those that are not stored. */
  async #readPeriods(missing: readonly MissingPeriod[]): Promise<void> {
    const windowOf = rememberedWindows();
    const asked = new Map<KnownCounter, Set<number>>();
    const spans: store.CounterSpan[] = [];
    for (const { known, occurredAt, settings } of missing) {
      const { counter, key } = known;
      const { startS, endS } = windowOf(counter.definition.period, settings, occurredAt);
      const starts = memoized(asked, known, () => new Set());
      if (starts.has(startS)) continue;
      starts.add(startS);
      spans.push({ counter, key, startS, endS });
    }
    const stored = await store.readPeriods(this.#tx, spans);
    const byCounter = groupBy(stored, ({ counter }) => counter);
    for (const known of asked.keys()) {
      const found = byCounter.get(known.counter) ?? [];
      const isNew = ({ startS }: CounterPeriod) => known.periods.every((period) => period.startS !== startS);
      for (const period of found) if (isNew(period)) known.periods.push(period);
    }
    for (const { known, occurredAt, settings } of missing) openPeriod(known, occurredAt, settings, windowOf);
  }

  async #readValues(events: readonly EventToCount[]): Promise<void> {
    const missing: store.PeriodValue[] = [];
    for (const event of events) {
      const periods = this.#periods.get(event) ?? [];
      for (const [index, item] of event.counting.counted.entries()) {
        const period = periods[index];
        const value = period === undefined ? undefined : countedValue(period.counter, item);
        if (period === undefined || value === undefined) continue;
        const asked = memoized(this.#askedValues, period, () => new Set());
        if (asked.has(value)) continue;
        asked.add(value);
        if (period.isStored) missing.push({ period, value });
      }
    }
    await store.readValues(this.#tx, missing);
  }

  #counterOf(event: EventToCount, item: CountedItem): KnownCounter | undefined {
    const counter = counterOf(event.scope, item, event);
    if (counter === undefined) return undefined;
    const text = counterKeyText(counter);
    return memoized(this.#known, text, () => ({ counter, key: counterKey(text), periods: [] }));
  }
}

/** Returns `windowAt` with a memory: most events of a batch lie in the same window of their period and settings. */
function rememberedWindows(): typeof windowAt {
  const last = new Map<Period, Map<WindowSettings, TimeWindow>>();
  return (period, settings, atS) => {
    const bySettings = memoized(last, period, () => new Map<WindowSettings, TimeWindow>());
    const known = bySettings.get(settings);
    if (known !== undefined && windowContains(known, atS)) return known;
    const window = windowAt(period, settings, atS);
    bySettings.set(settings, window);
    return window;
  };
}

function periodAt({ counter, periods }: KnownCounter, occurredAt: number): CounterPeriod {
  const period = periods.find((each) => each.contains(occurredAt));
  return present(period, `the period of the counter ${counter.definition.name}`);
}

/**
 * Opens the period that contains an instant, unless there is one. It ends where the next one begins, and begins where
 * the one before ends: where timezone or anchor were changed, the period that was open keeps its end.
 */
function openPeriod(
  { counter, key, periods }: KnownCounter,
  occurredAt: number,
  settings: WindowSettings,
  windowOf: typeof windowAt,
): void {
  if (periods.some((period) => period.contains(occurredAt))) return;
  let { startS, endS } = windowOf(counter.definition.period, settings, occurredAt);
  for (const other of periods) {
    if (other.endS !== undefined && other.endS <= occurredAt && other.endS > startS) startS = other.endS;
    if (other.startS > occurredAt && (endS === undefined || other.startS < endS)) endS = other.startS;
  }
  periods.push(new CounterPeriod(counter, key, startS, endS));
}

/** Adds the amounts of counted items to their periods; discounts are not part of them. */
function charge(periods: readonly CounterPeriod[], items: readonly ChargeItem[]): void {
  const counted = items.filter(({ cumulative }) => cumulative !== '');
  if (counted.length !== periods.length) {
    throw new Error(`${periods.length} charge items were counted, and ${counted.length} have totals`);
  }
  for (const [index, item] of counted.entries()) {
    present(periods[index], 'the period of a charge item').charge(item.amount + item.discount, item);
  }
}
