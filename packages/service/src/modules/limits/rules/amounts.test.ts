import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TimeWindow } from '../../../kernel/period.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import { type AmountChange, AmountTimeline } from './amounts.js';

const change = (atS: number, amount: bigint | undefined, opensNow = false): AmountChange => ({
  atMs: atS * 1_000,
  amount,
  opensNow,
});
const window = (startS: number, endS?: number): TimeWindow => ({ startS, endS });
const amountOf = (changes: AmountChange[], of: TimeWindow, appliesFromS = 0) =>
  new AmountTimeline(changes).amountOf(of, appliesFromS * 1_000);

describe('the limit of a window', () => {
  const published = [change(100, 1n), change(200, 2n), change(300, 3n)];

  it.each([
    ['is that of its start', window(250, 350), 0, 2n],
    ['counts a revision of the very start', window(200, 300), 0, 2n],
    ['does not count one of the end', window(100, 200), 0, 1n],
    ['is the first, before there was a rule', window(0, 50), 0, 1n],
    ['is the first, when the rule came within the window', window(0, 250), 0, 1n],
    ['is that of when the plan was bound within the window', window(100, 400), 250, 2n],
    ['is that of when the plan was bound after the window', window(100, 150), 350, 3n],
    ['is that of its start when the plan was bound before', window(250, 350), 100, 2n],
    ['is the first for a lifetime', window(0), 0, 1n],
    ['is that of the binding for a lifetime', window(0), 299, 2n],
  ])('%s', (_, of, appliesFromS, expected) => {
    expect(amountOf(published, of, appliesFromS)).toBe(expected);
  });

  it('of a window that is open changes with what takes effect at once, and with nothing else', () => {
    const changes = [change(100, 1n), change(210, 2n, true), change(220, 3n), change(310, 4n, true)];
    expect(amountOf(changes, window(100, 200))).toBe(1n);
    expect(amountOf(changes, window(200, 300))).toBe(2n);
    expect(amountOf(changes, window(300, 400))).toBe(4n);
    expect(amountOf(changes, window(0))).toBe(4n);
  });

  it('of a rule that was away is that of its return, unless the window had opened before', () => {
    const changes = [change(100, 1n), change(200, undefined), change(300, 3n), change(400, 4n)];
    expect(amountOf(changes, window(150, 1_000))).toBe(1n);
    expect(amountOf(changes, window(250, 1_000))).toBe(3n);
    expect(amountOf(changes, window(0, 1_000), 250)).toBe(3n);
    expect(amountOf(changes, window(400, 1_000))).toBe(4n);
  });

  it('is none only where there never was one', () => {
    expect(() => amountOf([change(1, undefined)], window(0))).toThrow('must end with an amount');
  });
});

/** The limit that an observer of the window would note, who has watched it since it opened. */
function watched(
  changes: readonly AmountChange[],
  of: TimeWindow,
  appliesFromMs: number,
): bigint | undefined {
  const openMs = Math.max(of.startS * 1_000, appliesFromMs);
  let noted = changes.filter(({ atMs }) => atMs <= openMs).at(-1)?.amount;
  for (const { atMs, amount, opensNow } of changes.filter((each) => each.atMs > openMs)) {
    const isWithin = of.endS === undefined || atMs < of.endS * 1_000;
    if (amount !== undefined && (noted === undefined || (opensNow && isWithin))) noted = amount;
  }
  return noted;
}

it('is what somebody would note who watches the window', () => {
  const changes = fc
    .uniqueArray(
      fc.record({
        atMs: fc.integer({ min: 0, max: 30_000 }),
        amount: fc.option(fc.bigInt(0n, 9n), { nil: undefined, freq: 3 }),
        opensNow: fc.boolean(),
      }),
      { selector: ({ atMs }) => atMs, maxLength: 12 },
    )
    .map((list) => list.toSorted((a, b) => a.atMs - b.atMs))
    .map((list) => list.map((each) => ({ ...each, opensNow: each.opensNow && each.amount !== undefined })))
    .map((list) => [...list, { atMs: 30_001, amount: 99n, opensNow: false }]);
  const windows = fc
    .tuple(fc.integer({ min: 0, max: 30 }), fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }))
    .map(([startS, sizeS]): TimeWindow => ({ startS, endS: sizeS && startS + sizeS }));
  fc.assert(
    fc.property(changes, windows, fc.integer({ min: 0, max: 31_000 }), (list, of, appliesFromMs) => {
      expect(new AmountTimeline(list).amountOf(of, appliesFromMs)).toBe(watched(list, of, appliesFromMs));
    }),
    { numRuns: propertyRuns(500) },
  );
});
