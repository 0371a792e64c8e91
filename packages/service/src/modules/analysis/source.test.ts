import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinedSpans, planSources, readingEvents, type SourcePart, type TimeSpan } from './source.js';

const HOUR = 1_700_000_000 - (1_700_000_000 % 3_600);

describe('planSources', () => {
  it.each<[string, number, number, SourcePart[]]>([
    ['a whole hour', HOUR, HOUR + 3_600, [part('usage_rollup_1h', [HOUR, HOUR + 3_600])]],
    ['a quarter', HOUR, HOUR + 900, [part('usage_rollup_15m', [HOUR, HOUR + 900])]],
    ['a minute', HOUR + 60, HOUR + 120, [part('usage_rollup_1m', [HOUR + 60, HOUR + 120])]],
    ['seconds', HOUR + 5, HOUR + 59, [part('usage_events', [HOUR + 5, HOUR + 59])]],
    ['nothing', HOUR, HOUR, []],
    [
      'seconds on both sides of a minute',
      HOUR + 59,
      HOUR + 61,
      [part('usage_events', [HOUR + 59, HOUR + 61])],
    ],
    [
      'a range with every kind of edge',
      HOUR - 961,
      HOUR + 3_661,
      [
        part('usage_events', [HOUR - 961, HOUR - 960], [HOUR + 3_660, HOUR + 3_661]),
        part('usage_rollup_1m', [HOUR - 960, HOUR - 900], [HOUR + 3_600, HOUR + 3_660]),
        part('usage_rollup_15m', [HOUR - 900, HOUR]),
        part('usage_rollup_1h', [HOUR, HOUR + 3_600]),
      ],
    ],
  ])('reads %s from the coarsest tables', (_, from, to, expected) => {
    expect(planSources(from, to, [], false)).toEqual(expected);
  });

  it('leaves out a table whose rows would lie across the start of a bucket', () => {
    const sources = (starts: number[]) =>
      planSources(HOUR, HOUR + 3_600, starts, false).map(({ source }) => source);
    expect(sources([HOUR])).toEqual(['usage_rollup_1h']);
    expect(sources([HOUR, HOUR + 1_800])).toEqual(['usage_rollup_15m']);
    expect(sources([HOUR, HOUR + 420])).toEqual(['usage_rollup_1m']);
    expect(sources([HOUR, HOUR + 30])).toEqual(['usage_events']);
  });

  it('reads everything from the events when asked to', () => {
    expect(planSources(HOUR, HOUR + 3_600, [HOUR], true)).toEqual([
      part('usage_events', [HOUR, HOUR + 3_600]),
    ]);
  });

  it('covers every moment exactly once, with whole rows only', () => {
    const grains = { usage_rollup_1h: 3_600, usage_rollup_15m: 900, usage_rollup_1m: 60, usage_events: 1 };
    fc.assert(
      fc.property(fc.nat(20_000), fc.nat(20_000), (from, lengthS) => {
        const to = from + lengthS;
        const parts = planSources(from, to, [], false);
        const spans = parts.flatMap(({ source, spans }) => spans.map((span) => ({ source, ...span })));
        spans.sort((a, b) => a.from - b.from);
        let at = from;
        for (const span of spans) {
          expect(span.from).toBe(at);
          expect(span.to).toBeGreaterThan(span.from);
          expect(span.from % grains[span.source]).toBe(0);
          expect(span.to % grains[span.source]).toBe(0);
          at = span.to;
        }
        expect(at).toBe(to);
      }),
    );
  });
});

function part(source: SourcePart['source'], ...spans: [number, number][]): SourcePart {
  return { source, spans: spans.map(([from, to]) => ({ from, to })) };
}

/** Spans in order, of whole minutes. */
const spansArbitrary = fc
  .uniqueArray(fc.integer({ min: -120, max: 120 }), { maxLength: 12 })
  .map((minutes) => minutes.sort((a, b) => a - b))
  .map((minutes) =>
    minutes.flatMap((minute, index): TimeSpan[] => {
      const to = minutes[index + 1];
      return index % 2 === 1 || to === undefined ? [] : [{ from: HOUR + minute * 60, to: HOUR + to * 60 }];
    }),
  );

describe('readingEvents', () => {
  it('takes exactly the spans from the rollups, and leaves no moment out', () => {
    const moments = (spans: readonly TimeSpan[]) =>
      spans.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, second) => from + second));
    fc.assert(
      fc.property(spansArbitrary, fc.integer({ min: 1, max: 7_000 }), (spans, length) => {
        const sources = planSources(HOUR - 1_000, HOUR - 1_000 + length, [], false);
        const found = readingEvents(sources, spans);
        const all = found.flatMap((each) => moments(each.spans));
        const before = sources.flatMap((each) => moments(each.spans));
        expect(all.sort()).toEqual(before.sort());
        const fromEvents = (parts: readonly SourcePart[]) =>
          new Set(parts.flatMap((each) => (each.source === 'usage_events' ? moments(each.spans) : [])));
        const taken = new Set(moments(spans));
        const expected = [...fromEvents(sources), ...before.filter((moment) => taken.has(moment))];
        expect(fromEvents(found)).toEqual(new Set(expected));
      }),
      { numRuns: 50, endOnFailure: true },
    );
  });
});

describe('joinedSpans', () => {
  const span = (from: number, to: number): TimeSpan => ({ from, to });
  it.each<[string, TimeSpan[], number, TimeSpan[]]>([
    ['nothing', [], 3, []],
    ['spans that touch', [span(0, 1), span(1, 2), span(3, 4)], 3, [span(0, 2), span(3, 4)]],
    ['across the shortest gap', [span(0, 1), span(9, 10), span(12, 13)], 2, [span(0, 1), span(9, 13)]],
    ['all into one', [span(0, 1), span(9, 10), span(12, 13)], 1, [span(0, 13)]],
  ])('joins %s', (_, spans, spansMax, expected) => {
    expect(joinedSpans(spans, spansMax)).toEqual(expected);
  });
});
