import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planSources, type SourcePart } from './source.js';

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
