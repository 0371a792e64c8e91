import { BACKTEST_EVENTS_MAX, BACKTEST_SECONDS_MAX, type BacktestResult } from '@tollgate/contract';
import type { Clock } from '../../kernel/clock.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type CountingEvent, type RatedEvent, rateEvent, ratingInputOf } from '../rules/index.js';
import { ProjectHistory } from '../storage/index.js';
import {
  type InputTotal,
  type ReplayInput,
  type ReplaySelection,
  readInputs,
  type StoredInput,
  sentFields,
  type UsageScope,
  voidedRemainders,
} from '../usage/index.js';
import { RatingComparison } from './comparison.js';
import { outcomeOf, type RatingOutcome, storedOutcome } from './outcome.js';
import { type OnProgress, Progress } from './progress.js';
import type { FindPeriods, TrialCounting } from './trial-counters.js';
import type { TrialRating } from './trial-rules.js';
import { WholePeriods } from './whole-periods.js';

/** The usage that a backtest reads, and the rules that it rates by. */
export interface Replay {
  readonly scope: UsageScope;
  readonly selection: ReplaySelection;
  readonly rules: TrialRating;
}

export interface ReplayBounds {
  readonly eventsMax: number;
  readonly secondsMax: number;
  readonly pageEventsMax: number;
  readonly pageBytesMax: number;
}

export interface ReplayDeps {
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly clock: Clock;
  /** The counters of events, where prices depend on their totals. */
  readonly findPeriods: FindPeriods;
  readonly bounds?: Partial<ReplayBounds>;
}

export const REPLAY_BOUNDS: ReplayBounds = {
  eventsMax: BACKTEST_EVENTS_MAX,
  secondsMax: BACKTEST_SECONDS_MAX,
  pageEventsMax: 2_048,
  // Each page costs a look into every part of the table, and is parsed without a pause.
  pageBytesMax: 2 * 1_048_576,
};

/** The event met a bug of this service, as it would in production. */
const DEFECT: RatingOutcome = {
  items: [],
  failure: { code: 'processing_failed', message: 'The event could not be processed.', path: null },
};

/**
 * Rates stored events again and compares the result with the stored one. Reads, and writes nothing.
 *
 * @param onProgress called with the number of events done, several times a second and after each page; waited for
 * @throws the signal's reason once that is aborted
 */
export async function replay(
  deps: ReplayDeps,
  asked: Replay,
  signal: AbortSignal,
  onProgress: OnProgress,
): Promise<BacktestResult> {
  const comparison = new RatingComparison();
  const reading = new Reading(deps, asked, signal, () => onProgress(comparison.eventCount));
  const { from, to } = asked.selection;
  const periods = new WholePeriods(reading.wholePeriods(), { from, to });
  const { eventsMax } = reading.bounds;
  let cutBy: 'events' | 'time' | undefined;
  let after: string | undefined;
  while (cutBy === undefined) {
    // One event more than may be rated shows whether any are left out.
    const events = await reading.page(asked.selection, after, eventsMax - comparison.eventCount + 1);
    if (events.length === 0) break;
    after = events.at(-1)?.id;
    const rated: RatedInput[] = [];
    for (const event of events) {
      if (comparison.eventCount + rated.length >= eventsMax) cutBy = 'events';
      else if (reading.isOver) cutBy = 'time';
      if (cutBy !== undefined) break;
      rated.push({ event, result: await reading.rate(event) });
    }
    for (const { event, outcome } of await completed(periods, rated)) {
      const { id, occurred_at_s: occurredAt } = event;
      comparison.add({ id, occurredAt, before: storedOutcome(event), after: outcome });
    }
    await reading.progress.tell();
  }
  const last = cutBy === undefined ? undefined : comparison.lastId;
  if (cutBy === undefined || last !== undefined) comparison.addCharged(await reading.voidedRemainders(last));
  const { cut_by: cutInside, ...found } = comparison.result();
  return { from, to, ...found, cut_by: cutBy === undefined ? cutInside : [cutBy, ...cutInside] };
}

/** An event with the result of rating it by itself; undefined for one that meets a bug of this service. */
interface RatedInput {
  readonly event: ReplayInput;
  readonly result: RatedEvent | CountingEvent | undefined;
}

/** Ends the rating of those events whose prices depend on totals. */
async function completed(periods: WholePeriods, rated: readonly RatedInput[]) {
  const counting = rated.flatMap(({ event, result }): TrialCounting[] =>
    result !== undefined && result.ok === undefined ? [{ event, counting: result }] : [],
  );
  const priced = await periods.price(counting);
  const byEvent = new Map(counting.map(({ event }, index) => [event, priced[index]]));
  return rated.flatMap(({ event, result }): { event: ReplayInput; outcome: RatingOutcome }[] => {
    if (result === undefined) return [{ event, outcome: DEFECT }];
    const outcome = result.ok === undefined ? byEvent.get(event) : outcomeOf(result);
    return outcome === undefined ? [] : [{ event, outcome }];
  });
}

/** Reads and rates stored events within the bounds of a backtest. */
class Reading {
  readonly bounds: ReplayBounds;
  readonly progress: Progress;
  readonly #deps: ReplayDeps;
  readonly #asked: Replay;
  readonly #history: ProjectHistory;
  readonly #signal: AbortSignal;
  readonly #endMs: number;

  constructor(deps: ReplayDeps, asked: Replay, signal: AbortSignal, onProgress: () => Promise<void>) {
    this.#deps = deps;
    this.#asked = asked;
    this.#signal = signal;
    this.#history = new ProjectHistory(deps.clickhouse, asked.scope);
    this.bounds = { ...REPLAY_BOUNDS, ...deps.bounds };
    this.#endMs = deps.clock.nowMs() + this.bounds.secondsMax * 1_000;
    this.progress = new Progress(signal, onProgress);
  }

  /** Whether the time of the backtest is over. */
  get isOver(): boolean {
    return this.#deps.clock.nowMs() >= this.#endMs;
  }

  page(selection: ReplaySelection, after: string | undefined, eventsMax: number): Promise<ReplayInput[]> {
    const { pageEventsMax, pageBytesMax } = this.bounds;
    const page = { eventsMax: Math.min(pageEventsMax, eventsMax), bytesMax: pageBytesMax };
    return readInputs(this.#history, selection, after, page, this.#signal);
  }

  /** Returns what voided events up to the last one still cost: new prices of totals come in its place. */
  voidedRemainders(last: string | undefined): Promise<InputTotal[]> {
    return voidedRemainders(this.#history, this.#asked.selection, last);
  }

  async rate(event: StoredInput): Promise<RatedEvent | CountingEvent | undefined> {
    const { rules } = this.#asked;
    const prices = rules.prices.at(event.occurred_at_s);
    const { lists } = prices instanceof Promise ? await prices : prices;
    if (this.progress.isDue) await this.progress.tell();
    try {
      return rateEvent({ extractor: rules.extractor, ...lists }, ratingInputOf(fieldsOf(event)));
    } catch {
      return undefined;
    }
  }

  /** Returns how whole periods are read: all their events, of which there may be as many as in a backtest. */
  wholePeriods() {
    let left = this.bounds.eventsMax;
    let isCut = false;
    const readPages = (from: number, to: number) =>
      this.#pages(from, to, (count) => {
        left -= count;
        isCut ||= left < 0 || this.isOver;
        return !isCut;
      });
    return {
      readPages,
      isCut: () => isCut,
      findPeriods: this.#deps.findPeriods,
      rate: async (event: StoredInput) => {
        const rated = await this.rate(event);
        return rated?.ok === undefined ? rated : undefined;
      },
    };
  }

  async *#pages(from: number, to: number, mayGoOn: (count: number) => boolean) {
    const selection = { ...this.#asked.selection, from, to, share: 1 };
    let after: string | undefined;
    for (;;) {
      const events = await this.page(selection, after, this.bounds.pageEventsMax);
      if (events.length === 0 || !mayGoOn(events.length)) return;
      after = events.at(-1)?.id;
      yield events;
      await this.progress.tell();
    }
  }
}

/** Returns the fields of an event as ingest took them. @throws SyntaxError where its body could never be read */
export function fieldsOf(event: StoredInput): Record<string, unknown> {
  const { raw_json: rawJson, x_billing: xBilling, occurred_at_s: occurredAt } = event;
  const { subject_is_sent: isSent, subject_type: type, subject_id: id } = event;
  return sentFields({ rawJson, xBilling, occurredAt, sentSubject: isSent ? { type, id } : undefined });
}
