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

/** Reads the spans from the events, which lie in whole rows of the rollups that they are taken from. */
export function readingEvents(sources: readonly SourcePart[], spans: readonly TimeSpan[]): SourcePart[] {
  const ofEvents: TimeSpan[] = [];
  const parts = sources.map(({ source, spans: own }) => {
    if (source === 'usage_events') ofEvents.push(...own);
    else ofEvents.push(...own.flatMap((span) => commonSpans(span, spans)));
    return { source, spans: source === 'usage_events' ? [] : own.flatMap((span) => otherSpans(span, spans)) };
  });
  return [...parts, { source: 'usage_events' as const, spans: ofEvents }].filter(
    (part) => part.spans.length > 0,
  );
}

/**
 * Returns at most `spansMax` spans that contain all of those, ascending: they join what touches, and then across the
 * shortest gaps.
 *
 * @param spans ascending, and none of them overlap
 */
export function joinedSpans(spans: readonly TimeSpan[], spansMax: number): TimeSpan[] {
  const gaps = spans.slice(1).map(({ from }, index) => ({ from, length: from - (spans[index]?.to ?? from) }));
  const longest = gaps.filter(({ length }) => length > 0).sort((a, b) => b.length - a.length);
  const ends = new Set(longest.slice(0, spansMax - 1).map(({ from }) => from));
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of spans) {
    const last = joined.at(-1);
    if (last === undefined || ends.has(from)) joined.push({ from, to });
    else last.to = to;
  }
  return joined;
}

function commonSpans(span: TimeSpan, spans: readonly TimeSpan[]): TimeSpan[] {
  return spans
    .map(({ from, to }) => ({ from: Math.max(from, span.from), to: Math.min(to, span.to) }))
    .filter(({ from, to }) => from < to);
}

/** Returns the parts of the span outside of the others, which are ascending. */
function otherSpans(span: TimeSpan, spans: readonly TimeSpan[]): TimeSpan[] {
  const common = commonSpans(span, spans);
  const starts = [span.from, ...common.map(({ to }) => to)];
  const ends = [...common.map(({ from }) => from), span.to];
  return starts
    .map((from, index) => ({ from, to: ends[index] ?? span.to }))
    .filter(({ from, to }) => from < to);
}
