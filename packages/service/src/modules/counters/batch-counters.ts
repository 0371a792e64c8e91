import { memoized } from '../../kernel/maps.js';
import { UTC_CALENDAR, type WindowSettings } from '../../kernel/period.js';
import { present } from '../../kernel/present.js';
import { slotOf } from '../../kernel/shard.js';
import type { Tx } from '../../platform/postgres/index.js';
import type { ChargeItem, CountingEvent, RatedEvent, RatingFailure } from '../rules/index.js';
import { type CountedOwner, type CountedProject, type Counter, countedValue, tooLarge } from './counter.js';
import { type CounterMemory, ProjectCounters } from './counter-memory.js';
import type { CountedCharge, CounterPeriod } from './counter-period.js';
import * as store from './counter-store.js';
import { addMissingPeriods, type MissingPeriod, type OpenedPeriod, periodAt } from './missing-periods.js';

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
interface MissingPlace extends MissingPeriod {
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
  readonly #opened: OpenedPeriod[] = [];
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
    const missing: MissingPlace[] = [];
    const counted = events.map((event) => this.#countedEvent(event, missing));
    if (missing.length > 0) this.#opened.push(...(await addMissingPeriods(this.#tx, missing)));
    for (const { known, occurredAt, periods, place } of missing)
      periods[place] = present(periodAt(known, occurredAt), 'the period of a counter');
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
  #countedEvent(event: EventToCount, missing: MissingPlace[]): CountedEvent {
    const { occurredAt, counting } = event;
    const project = present(this.#projects.get(event.scope.projectId), 'the project of an event');
    const periods: (CounterPeriod | undefined)[] = [];
    for (const known of project.of(counting.counted, event)) {
      const period = known && periodAt(known, occurredAt);
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
