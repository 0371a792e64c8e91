import { groupBy, memoized } from '../../kernel/maps.js';
import {
  type Period,
  type TimeWindow,
  type WindowSettings,
  windowAt,
  windowContains,
} from '../../kernel/period.js';
import type { Tx } from '../../platform/postgres/index.js';
import type { KnownCounter } from './counter-memory.js';
import { CounterPeriod } from './counter-period.js';
import { readPeriods } from './counter-store.js';
import { readNearPeriods } from './near-periods-store.js';
import { periodAmong, windowsAround } from './windows-around.js';

/** A time of a counter that no known period contains. */
export interface MissingPeriod {
  readonly known: KnownCounter;
  /** Unix seconds. */
  readonly occurredAt: number;
  readonly settings: WindowSettings;
}

/** A period that is not stored. */
export interface OpenedPeriod {
  readonly known: KnownCounter;
  readonly period: CounterPeriod;
}

/**
 * Adds the missing periods to their counters: those that are stored, and new ones where none is. Returns the new ones.
 *
 * A stored period keeps its start and its end. A new one follows from timezone and anchor as they are now, and from the
 * stored ones near it.
 */
export async function addMissingPeriods(tx: Tx, missing: readonly MissingPeriod[]): Promise<OpenedPeriod[]> {
  const windowOf = rememberedWindows();
  const inWindows = missing.map((each) => ({
    ...each,
    ...windowOf(each.known.counter.definition.period, each.settings, each.occurredAt),
  }));
  await addStored(tx, inWindows);
  // The periods near a window matter only when one is opened.
  const unknown = inWindows.filter(({ known, occurredAt }) => periodAt(known, occurredAt) === undefined);
  const near = await nearPeriods(tx, unknown);
  const opened: OpenedPeriod[] = [];
  for (const { known, occurredAt, settings, startS: windowS } of unknown) {
    if (periodAt(known, occurredAt) !== undefined) continue;
    const windows = windowsAround(known.counter.definition.period, settings, occurredAt);
    const others = [...known.periods, ...(near.get(known)?.get(windowS) ?? [])];
    const { startS, endS } = periodAmong(windows, others, occurredAt);
    const period = new CounterPeriod(known.counter, known.key, startS, endS);
    known.periods.push(period);
    opened.push({ known, period });
  }
  return opened;
}

/** Returns the known period that contains an instant. */
export function periodAt({ periods }: KnownCounter, atS: number): CounterPeriod | undefined {
  for (const period of periods) if (period.contains(atS)) return period;
  return undefined;
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

/** A counter, and a window of it. */
interface KnownWindow extends TimeWindow {
  readonly known: KnownCounter;
}

/** Reads the stored periods in the windows that are not known yet. */
async function addStored(tx: Tx, windows: readonly KnownWindow[]): Promise<void> {
  const spans = withoutRepeats(windows).map(({ known: { counter, key }, startS, endS }) => ({
    ...{ counter, key, startS, endS },
  }));
  const byCounter = groupBy(await readPeriods(tx, spans), ({ counter }) => counter);
  for (const known of new Set(windows.map((window) => window.known))) {
    const found = byCounter.get(known.counter) ?? [];
    const isNew = ({ startS }: CounterPeriod) => known.periods.every((period) => period.startS !== startS);
    for (const period of found) if (isNew(period)) known.periods.push(period);
  }
}

/** Returns the stored periods beside the windows of each counter, by the start of the window. */
async function nearPeriods(
  tx: Tx,
  windows: readonly KnownWindow[],
): Promise<ReadonlyMap<KnownCounter, ReadonlyMap<number, readonly TimeWindow[]>>> {
  const asked = withoutRepeats(windows).flatMap(({ known, startS, endS }) =>
    // Nothing is beside a lifetime.
    endS === undefined ? [] : { known, counter: known.counter, key: known.key, startS, endS },
  );
  const found = await readNearPeriods(tx, asked);
  const near = new Map<KnownCounter, Map<number, readonly TimeWindow[]>>();
  for (const [index, { known, startS }] of asked.entries())
    memoized(near, known, () => new Map()).set(startS, found[index] ?? []);
  return near;
}

function withoutRepeats(windows: readonly KnownWindow[]): KnownWindow[] {
  const seen = new Map<KnownCounter, Set<number>>();
  return windows.filter(({ known, startS }) => {
    const starts = memoized(seen, known, () => new Set<number>());
    if (starts.has(startS)) return false;
    starts.add(startS);
    return true;
  });
}
