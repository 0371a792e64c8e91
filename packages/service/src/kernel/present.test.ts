import { expect, it } from 'vitest';
import { addTo, countOrNone, present, sumOrNone } from './present.js';

it('returns what is there, zero and null included', () => {
  expect([present(0n, 'x'), present(0, 'x'), present(null, 'x'), present('', 'x')]).toEqual([
    0n,
    0,
    null,
    '',
  ]);
});

it('throws for what is missing, and names it', () => {
  expect(() => present(undefined, 'the limit of window 3')).toThrow('the limit of window 3 is missing');
});

it('counts nothing as zero', () => {
  expect([countOrNone(undefined), countOrNone(3), sumOrNone(undefined), sumOrNone(3n)]).toEqual([
    0,
    3,
    0n,
    3n,
  ]);
});

it('begins a sum with its first amount', () => {
  const sums = new Map([['a', 5n]]);
  addTo(sums, 'a', -2n);
  addTo(sums, 'b', 7n);
  expect([...sums]).toEqual([
    ['a', 3n],
    ['b', 7n],
  ]);
});
