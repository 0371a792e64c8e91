/** Where sums are read. */
export type Source = 'usage_rollup_15m' | 'usage_rollup_1m' | 'usage_events';

/** A stretch of time in Unix seconds, `from` inclusive and `to` exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** The stretches of a range that one table answers: at most two, one at each end. */
export interface SourcePart {
  readonly source: Source;
  readonly spans: readonly TimeSpan[];
}

interface Rollup {
  readonly source: Source;
  /** Length of its rows. */
  readonly grainS: number;
}

/** Coarsest first. */
const ROLLUPS: readonly Rollup[] = [
  { source: 'usage_rollup_15m', grainS: 900 },
  { source: 'usage_rollup_1m', grainS: 60 },
];

/**
 * Cuts [from, to) so that every moment is read from the coarsest table whose rows fit exactly: whole quarters of an
 * hour, whole minutes beside them, and single events at the very ends. A table qualifies only when none of its rows
 * lies across the start of a bucket; the local midnights of today's timezones never do, the starts of buckets of seven
 * minutes do. With `rawOnly` everything is read from the events.
 */
export function planSources(
  from: number,
  to: number,
  bucketStarts: readonly number[],
  rawOnly: boolean,
): SourcePart[] {
  const fitting = ROLLUPS.filter(({ grainS }) => bucketStarts.every((start) => start % grainS === 0));
  const spans = new Map<Source, TimeSpan[]>();
  const cut = (span: TimeSpan, [rollup, ...finer]: readonly Rollup[]): void => {
    if (span.from >= span.to) return;
    const inner = rollup === undefined ? span : wholeRows(span, rollup.grainS);
    if (inner.from >= inner.to) {
      cut(span, finer);
      return;
    }
    cut({ from: span.from, to: inner.from }, finer);
    const source = rollup?.source ?? 'usage_events';
    spans.set(source, [...(spans.get(source) ?? []), inner]);
    cut({ from: inner.to, to: span.to }, finer);
  };
  cut({ from, to }, rawOnly ? [] : fitting);
  return [...spans].map(([source, ofSource]) => ({ source, spans: ofSource }));
}

/** The part of the span that is made of whole rows; empty or reversed when there is none. */
function wholeRows({ from, to }: TimeSpan, grainS: number): TimeSpan {
  return { from: Math.ceil(from / grainS) * grainS, to: Math.floor(to / grainS) * grainS };
}
