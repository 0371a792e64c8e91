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
import { slotOf } from '../../kernel/shard.js';
import type { Tx } from '../../platform/postgres/index.js';
import type { ChargeItem, CountingEvent, RatedEvent, RatingFailure } from '../rules/index.js';
import { type CountedOwner, type CountedProject, type Counter, countedValue, tooLarge } from './counter.js';
import { type CounterMemory, type KnownCounter, ProjectCounters } from './counter-memory.js';
import { type CountedCharge, CounterPeriod } from './counter-period.js';
import * as store from './counter-store.js';

/** An event whose charge items are to be counted. */
export interface EventToCount extends CountedOwner {
  readonly scope: CountedProject;
  /** Unix seconds. */
  readonly occurredAt: number;
  /** The settings of the subject's route; undefined without a route. */
  readonly settings: WindowSettings | undefined;
  readonly counting: CountingEvent;
}

/**
 * An event with the periods of its counted items; undefined for an item without a counter. Periods stand here and not
 * in a map of events: V8 would keep all events of the map until its next full collection.
 */
export interface CountedEvent extends Pick<EventToCount, 'counting'> {
  readonly periods: readonly (CounterPeriod | undefined)[];
}

/** A time that no known period contains, and the place of the period among those of its event. */
interface MissingPeriod {
  readonly known: KnownCounter;
  readonly occurredAt: number;
  readonly settings: WindowSettings;
  readonly periods: (CounterPeriod | undefined)[];
  readonly place: number;
}

/**
 * How a transaction uses counters. A reader takes no locks, so that it delays nobody, and must not write. The memory of
 * a writer is asked for with the first counter.
 */
export type CountersUse =
  | { readonly kind: 'read' }
  | { readonly kind: 'write'; readonly memory?: () => CounterMemory };

/**
 * The counters that the events of one transaction move. Events are prepared in slices and priced one by one, in the
 * order in which they count; `write` stores the new totals.
 *
 * Counters of a project are read and written under the lock of its slot, from the first slice with a counter until the
 * commit. Slices must come in ascending order of slots, so that transactions cannot deadlock.
 */
export class BatchCounters {
  readonly #tx: Tx;
  readonly #use: CountersUse;
  /** By project id. */
  readonly #projects = new Map<string, ProjectCounters>();
  readonly #accounts = new Map<string, WindowSettings>();
  readonly #askedValues = new Map<CounterPeriod, Set<string>>();
  /** The periods that this transaction has opened. */
  readonly #opened: { readonly known: KnownCounter; readonly period: CounterPeriod }[] = [];
  /** The periods in which this transaction has counted, even if it has taken that back. */
  readonly #changed: CounterPeriod[] = [];
  #lockedUpTo = -1;
  /** The items of the event that was priced last. */
  #counted: readonly (CountedCharge | undefined)[] = [];

  constructor(tx: Tx, use: CountersUse) {
    this.#tx = tx;
    this.#use = use;
  }

  /** Reads the periods of all counters that a slice of events moves; returns the events in the same order. */
  async prepare(events: readonly EventToCount[]): Promise<readonly CountedEvent[]> {
    if (events.length === 0) return [];
    await this.#openProjects(events);
    await this.#readAccounts(events);
    const missing: MissingPeriod[] = [];
    const counted = events.map((event) => this.#countedEvent(event, missing));
    if (missing.length > 0) await this.#readPeriods(missing);
    for (const { known, occurredAt, periods, place } of missing) periods[place] = periodAt(known, occurredAt);
    if (this.#use.kind === 'write') await this.#readValues(counted);
    return counted;
  }

  /** Counts the items of a prepared event, and ends its rating. An event that fails counts nothing. */
  price({ counting, periods }: CountedEvent): RatedEvent {
    const counted: (CountedCharge | undefined)[] = [];
    this.#counted = counted;
    let place = 0;
    for (const item of counting.counted) {
      const period = periods[place++];
      const ofItem = period?.count(item);
      if (period !== undefined && ofItem === undefined)
        return this.#failed(counting, tooLarge(item.counter, item.path));
      counted.push(ofItem);
      if (period === undefined || period.isChanged) continue;
      period.isChanged = true;
      this.#changed.push(period);
    }
    const rated = counting.price(counted);
    if (!rated.ok) this.undo();
    else charge(counted, rated.items);
    return rated;
  }

  /** Takes back the event that was priced last. */
  undo(): void {
    for (const counted of this.#counted.toReversed()) counted?.period.undo(counted);
    this.#counted = [];
  }

  /** Stores the totals. Nothing must be counted afterwards. */
  async write(): Promise<void> {
    if (this.#use.kind === 'read') throw new Error('counters were read without their locks');
    if (this.#changed.length === 0) return;
    // A period whose only events were taken back again was never opened.
    for (const { known, period } of this.#opened) {
      if (period.itemCount === 0) known.periods.splice(known.periods.indexOf(period), 1);
    }
    const counted = this.#changed.filter(({ itemCount, isStored }) => isStored || itemCount > 0);
    const stateId = await store.writeCounters(this.#tx, counted);
    const projects = new Set(counted.map(({ counter }) => counter.scope.projectId));
    for (const id of projects) this.#use.memory?.().keep(stateId, present(this.#projects.get(id), id));
  }

  #failed({ subject, dimensions }: CountingEvent, failure: RatingFailure): RatedEvent {
    this.undo();
    return { ok: false, failure, subject, dimensions };
  }

  /** Locks the projects of a slice that are new to the transaction, and takes what is remembered of them. */
  async #openProjects(events: readonly EventToCount[]): Promise<void> {
    const scopes = new Map<string, EventToCount['scope']>();
    for (const { scope } of events) {
      if (!this.#projects.has(scope.projectId)) scopes.set(scope.projectId, scope);
    }
    if (scopes.size === 0) return;
    const projects = [...scopes.values()];
    if (this.#use.kind === 'write') await this.#lock(projects.map(({ projectNo }) => slotOf(projectNo)));
    const memory = this.#use.kind === 'write' ? this.#use.memory?.() : undefined;
    const states = memory && (await store.readStates(this.#tx, projects));
    for (const scope of projects) {
      const counters = memory?.take(scope, states?.get(scope.projectId)) ?? new ProjectCounters(scope);
      this.#projects.set(scope.projectId, counters);
    }
  }

  async #lock(slots: readonly number[]): Promise<void> {
    const wanted = [...new Set(slots)].filter((slot) => slot !== this.#lockedUpTo).sort((a, b) => a - b);
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

  /** Returns an event with the periods that are known; the others are added to `missing`. */
  #countedEvent(event: EventToCount, missing: MissingPeriod[]): CountedEvent {
    const { occurredAt, counting } = event;
    const project = present(this.#projects.get(event.scope.projectId), 'the project of an event');
    const periods: (CounterPeriod | undefined)[] = [];
    for (const known of project.of(counting.counted, event)) {
      const period = known && knownPeriodAt(known, occurredAt);
      if (known !== undefined && period === undefined) {
        const settings = this.#settingsOf(event, known.counter);
        missing.push({ known, occurredAt, settings, periods, place: periods.length });
      }
      periods.push(period);
    }
    return { counting, periods };
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
    for (const { known, occurredAt, settings } of missing) {
      const period = openPeriod(known, occurredAt, settings, windowOf);
      if (period !== undefined) this.#opened.push({ known, period });
    }
  }

  async #readValues(events: readonly CountedEvent[]): Promise<void> {
    const missing: store.PeriodValue[] = [];
    for (const event of events) {
      let place = 0;
      for (const item of event.counting.counted) {
        const period = event.periods[place++];
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

function knownPeriodAt({ periods }: KnownCounter, occurredAt: number): CounterPeriod | undefined {
  for (const period of periods) if (period.contains(occurredAt)) return period;
  return undefined;
}

function periodAt(known: KnownCounter, occurredAt: number): CounterPeriod {
  return present(knownPeriodAt(known, occurredAt), 'the period of a counter');
}

/**
 * Opens the period that contains an instant, unless there is one. It ends where the next one begins, and begins where
 * the one before ends: where timezone or anchor were changed, the period that was open keeps its end. Returns the
 * period that was opened.
 */
function openPeriod(
  { counter, key, periods }: KnownCounter,
  occurredAt: number,
  settings: WindowSettings,
  windowOf: typeof windowAt,
): CounterPeriod | undefined {
  if (periods.some((period) => period.contains(occurredAt))) return undefined;
  let { startS, endS } = windowOf(counter.definition.period, settings, occurredAt);
  for (const other of periods) {
    if (other.endS !== undefined && other.endS <= occurredAt && other.endS > startS) startS = other.endS;
    if (other.startS > occurredAt && (endS === undefined || other.startS < endS)) endS = other.startS;
  }
  const period = new CounterPeriod(counter, key, startS, endS);
  periods.push(period);
  return period;
}

/** Adds the amounts of counted items to their periods; discounts are not part of them. */
function charge(counted: readonly (CountedCharge | undefined)[], items: readonly ChargeItem[]): void {
  const inPeriods = counted.filter((each) => each !== undefined);
  let next = 0;
  for (const item of items) {
    if (item.cumulative === '') continue;
    const { period } = present(inPeriods[next++], 'the period of a charge item');
    period.charge(item.amount + item.discount, item);
  }
  if (next !== inPeriods.length)
    throw new Error(`${inPeriods.length} charge items were counted, and ${next} have totals`);
}
