import { describe, expect, it } from 'vitest';
import { addChunks, prepayAgain, type QuotaCounter, usedByKey } from './prepaid.js';

const KEY = { tenantId: 'ten_1', monthStartS: 0 };
const OWN = 3;

const counter = (counterNo: number, used: number, prepaid = 0, eventLimit: number | null = null) => ({
  ...KEY,
  counterNo,
  used,
  prepaid,
  eventLimit,
});
const charge = (eventCount: number, eventLimit: number | null) => ({ ...KEY, eventCount, eventLimit });
const prepaid = (events: number, limit: number | null, counters: readonly QuotaCounter[]) =>
  addChunks([charge(events, limit)], counters, OWN).prepayments.map((prepayment) => prepayment.prepaid);

describe('the chunk that a counter prepays', () => {
  it.each([
    ['is a part of the room that is left', 1, 1_000, [counter(0, 200), counter(OWN, 0)], [200]],
    [
      'is smaller the more counters there are',
      1,
      1_000,
      [counter(0, 0), counter(1, 200), counter(2, 0), counter(OWN, 0)],
      [100],
    ],
    ['is 100,000 events at most', 1, 10_000_000, [counter(0, 0), counter(OWN, 0)], [100_000]],
    ['is at least what is charged', 700, 1_000, [counter(0, 0), counter(OWN, 0)], [700]],
    ['leaves what others have prepaid', 1, 1_000, [counter(1, 0, 990, 1_000), counter(OWN, 0)], [10]],
    [
      'is added when the last one is too small',
      8,
      1_000,
      [counter(0, 0), counter(OWN, 10, 5, 1_000)],
      [5 + 247],
    ],
    ['is not added sooner', 5, 1_000, [counter(0, 0), counter(OWN, 10, 5, 1_000)], [5]],
    [
      'is unbounded if there is no limit',
      5,
      null,
      [counter(0, 9), counter(OWN, 10)],
      [Number.MAX_SAFE_INTEGER],
    ],
    ['takes everything up to the limit', 3, 10, [counter(0, 5), counter(OWN, 2)], [3]],
  ] as const)('%s', (_name, events, limit, counters, expected) => {
    expect(prepaid(events, limit, counters)).toEqual(expected);
  });

  it.each([
    ['there is too little left', 4, 10, [counter(0, 5), counter(OWN, 2)]],
    ['others have prepaid the rest', 2, 10, [counter(1, 5, 4, 10), counter(OWN, 0)]],
    ['others have prepaid under another limit', 1, 10, [counter(1, 0, 1, 20), counter(OWN, 0)]],
    ['others have prepaid without a limit', 1, 10, [counter(1, 0, 1), counter(OWN, 0)]],
    ['its own counter has prepaid under another limit', 1, null, [counter(0, 0), counter(OWN, 0, 9, 20)]],
    ['more was used than is allowed now', 1, 10, [counter(0, 11), counter(OWN, 0)]],
  ] as const)('must be taken back from others when %s', (_name, events, limit, counters) => {
    const tight = charge(events, limit);
    expect(addChunks([tight], counters, OWN)).toEqual({ prepayments: [], tight: [tight] });
  });

  it('is prepaid for the charges that fit, beside one that does not', () => {
    const [fits, tight] = [charge(1, 1_000), { ...charge(4, 10), tenantId: 'ten_2' }];
    const counters = [counter(OWN, 0), { ...counter(OWN, 9), tenantId: 'ten_2' }];
    expect(addChunks([fits, tight], counters, OWN)).toEqual({
      prepayments: [{ ...KEY, eventLimit: 1_000, prepaid: 500 }],
      tight: [tight],
    });
  });

  it('needs its own counter, which must have been opened', () => {
    expect(() => prepaid(1, 10, [counter(0, 0)])).toThrow('own counter of ten_1');
    expect(() => prepaid(1, 10, [])).toThrow('counters of ten_1');
  });
});

it('prepays what is admitted, and a chunk beyond it, once everything was taken back', () => {
  const counters = [counter(0, 100), counter(1, 200, 55, 1_000), counter(OWN, 100)];
  const again = (events: number, limit: number | null) =>
    prepayAgain([charge(events, limit)], counters).map((prepayment) => prepayment.prepaid);
  expect(usedByKey(counters)).toEqual(new Map([['ten_1\n0', 400]]));
  expect([again(300, 1_000), again(600, 1_000), again(600, null)]).toEqual([
    [350],
    [600],
    [Number.MAX_SAFE_INTEGER],
  ]);
});
