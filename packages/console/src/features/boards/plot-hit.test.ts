import { expect, it } from 'vitest';
import { seriesAt } from './plot-hit.js';

it.each([
  ['area', 95, 0],
  ['area', 61, 1],
  ['bar', 59, 2],
  // A little above what is drawn.
  ['bar', 35, 2],
  ['bar', 20, undefined],
  // The fourth has no height.
  ['area', 40, 2],
  ['line', 60, 1],
  ['line', 67, 1],
  ['line', 72, 0],
  ['line', 10, undefined],
] as const)('finds in a chart of type %s what is at %i pixels', (type, y, index) => {
  expect(seriesAt(type, [80, 60, 40, 40], 100, y)).toBe(index);
});

it('finds stacks below zero', () => {
  expect(seriesAt('bar', [120, 90], 100, 110)).toBe(0);
});

it('finds no line that is not there', () => {
  expect(seriesAt('line', [Number.NaN, 98], 100, 100)).toBe(1);
  expect(seriesAt('line', [Number.NaN], 100, 100)).toBeUndefined();
});
