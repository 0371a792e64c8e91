/** Where sums are read: the rollup in one of its resolutions, or the events. */
export type Source = 'usage_rollup_1h' | 'usage_rollup_15m' | 'usage_rollup_1m' | 'usage_events';

/** A range of time in Unix seconds, `from` inclusive and `to` exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** The parts of a range that one source covers: at most two, one at each end. */
export interface SourcePart {
  readonly source: Source;
  readonly spans: readonly TimeSpan[];
}

/** Length of a source's rows; undefined for the events, which have none. */
export const RESOLUTIONS_S = {
  usage_rollup_1h: 3_600,
  usage_rollup_15m: 900,
  usage_rollup_1m: 60,
  usage_events: undefined,
} as const satisfies Record<Source, number | undefined>;

/** Coarsest first. */
const ROLLUPS = ['usage_rollup_1h', 'usage_rollup_15m', 'usage_rollup_1m'] as const;
type Rollup = (typeof ROLLUPS)[number];

/**
 * Cuts [from, to) so that every moment is read from the coarsest source whose rows fit exactly: whole hours,
 * whole quarters and minutes around them, and single events at the very ends. A source qualifies only when
 * none of its rows lies across the start of a bucket: hours do where local time is ahead by half hours,
 * quarters do not in any timezone of today, but across the starts of buckets of seven minutes. With `useEventsOnly`
 * everything is read from the events.
 */
export function planSources(
  from: number,
  to: number,
  bucketStarts: readonly number[],
  useEventsOnly: boolean,
): SourcePart[] {
  const fitting = ROLLUPS.filter((rollup) =>
    bucketStarts.every((start) => start % RESOLUTIONS_S[rollup] === 0),
  );
  const spans = new Map<Source, TimeSpan[]>();
  const cut = (span: TimeSpan, [rollup, ...finer]: readonly Rollup[]): void => {
    if (span.from >= span.to) return;
    const inner = rollup === undefined ? span : wholeRows(span, RESOLUTIONS_S[rollup]);
    if (inner.from >= inner.to) {
      cut(span, finer);
      return;
    }
    cut({ from: span.from, to: inner.from }, finer);
    const source = rollup ?? 'usage_events';
    spans.set(source, [...(spans.get(source) ?? []), inner]);
    cut({ from: inner.to, to: span.to }, finer);
  };
  cut({ from, to }, useEventsOnly ? [] : fitting);
  return [...spans].map(([source, ofSource]) => ({ source, spans: ofSource }));
}

/** Returns the part of the span that consists of whole rows; empty or reversed when there is none. */
function wholeRows({ from, to }: TimeSpan, grainS: number): TimeSpan {
  return { from: Math.ceil(from / grainS) * grainS, to: Math.floor(to / grainS) * grainS };
}
