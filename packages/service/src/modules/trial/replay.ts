import { BACKTEST_EVENTS_MAX, BACKTEST_SECONDS_MAX, type BacktestResult } from '@tollgate/contract';
import type { Clock } from '../../kernel/clock.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type RatingRules, rateEvent, ratingInputOf } from '../rules/index.js';
import { ProjectHistory } from '../storage/index.js';
import {
  type ReplaySelection,
  readInputs,
  type StoredInput,
  sentFields,
  type UsageScope,
} from '../usage/index.js';
import { RatingComparison } from './comparison.js';
import { outcomeOf, type RatingOutcome, storedOutcome } from './outcome.js';
import type { TrialRating } from './trial-rules.js';

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

export type OnProgress = (eventsDone: number) => Promise<void>;

export interface ReplayDeps {
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly clock: Clock;
  readonly bounds?: Partial<ReplayBounds>;
}

/** Interval of progress reports within a page. */
const PROGRESS_INTERVAL_MS = 250;

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

/** A replay has no counters: an amount that depends on one would be wrong. */
const BY_TOTAL: RatingOutcome = {
  items: [],
  failure: {
    code: 'price_by_total',
    message: 'A backtest cannot compute a price by the total of a counter. Plan a correction instead.',
    path: null,
  },
};

/**
 * Rates stored events again and compares the result with the stored one. Reads, and writes nothing.
 *
 * @param onProgress called with the number of events done, several times a second and after each page; waited for
 * @throws the signal's reason once that is aborted
 */
export async function replay(
  { clickhouse, clock, bounds }: ReplayDeps,
  { scope, selection, rules }: Replay,
  signal: AbortSignal,
  onProgress: OnProgress,
): Promise<BacktestResult> {
  const history = new ProjectHistory(clickhouse, scope);
  const { eventsMax, secondsMax, pageEventsMax, pageBytesMax } = { ...REPLAY_BOUNDS, ...bounds };
  const endMs = clock.nowMs() + secondsMax * 1_000;
  const comparison = new RatingComparison();
  let toldMs = performance.now();
  const tellProgress = async () => {
    signal.throwIfAborted();
    await onProgress(comparison.eventCount);
    signal.throwIfAborted();
    toldMs = performance.now();
  };
  let cutBy: 'events' | 'time' | undefined;
  let after: string | undefined;
  while (cutBy === undefined) {
    // One event more than may be rated shows whether any are left out.
    const left = eventsMax - comparison.eventCount;
    const page = { eventsMax: Math.min(pageEventsMax, left + 1), bytesMax: pageBytesMax };
    const events = await readInputs(history, selection, after, page, signal);
    if (events.length === 0) break;
    after = events.at(-1)?.id;
    for (const event of events) {
      if (comparison.eventCount >= eventsMax) cutBy = 'events';
      else if (clock.nowMs() >= endMs) cutBy = 'time';
      if (cutBy !== undefined) break;
      const { id, occurred_at_s: occurredAt } = event;
      const prices = rules.prices.at(occurredAt);
      const { lists } = prices instanceof Promise ? await prices : prices;
      const after = rateStored(event, { extractor: rules.extractor, ...lists });
      comparison.add({ id, occurredAt, before: storedOutcome(event), after });
      if (performance.now() - toldMs >= PROGRESS_INTERVAL_MS) await tellProgress();
    }
    await tellProgress();
  }
  const { cut_by: cutInside, ...found } = comparison.result();
  const { from, to } = selection;
  return { from, to, ...found, cut_by: cutBy === undefined ? cutInside : [cutBy, ...cutInside] };
}

function rateStored(event: StoredInput, rules: RatingRules): RatingOutcome {
  try {
    const rated = rateEvent(rules, ratingInputOf(fieldsOf(event)));
    return rated.ok === undefined ? BY_TOTAL : outcomeOf(rated);
  } catch {
    return DEFECT;
  }
}

/** Returns the fields of an event as ingest took them. @throws SyntaxError where its body could never be read */
export function fieldsOf(event: StoredInput): Record<string, unknown> {
  const { raw_json: rawJson, x_billing: xBilling, occurred_at_s: occurredAt } = event;
  const { subject_is_sent: isSent, subject_type: type, subject_id: id } = event;
  return sentFields({ rawJson, xBilling, occurredAt, sentSubject: isSent ? { type, id } : undefined });
}
