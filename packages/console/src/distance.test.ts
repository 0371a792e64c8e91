import { expect, it } from 'vitest';
import { distance, duration } from './distance.js';

const NOW_S = 1_000_000_000;

it.each([
  [0, 'just now'],
  [-59, 'just now'],
  [-60, '1 minute ago'],
  [-119, '1 minute ago'],
  [-7_199, '119 minutes ago'],
  [-7_200, '2 hours ago'],
  [59, 'within a minute'],
  [60, 'in 1 minute'],
  [172_799, 'in 47 hours'],
  [30 * 86_400, 'in 30 days'],
])('%d seconds from now is %s', (apartS, text) => {
  expect(distance(NOW_S + apartS, NOW_S)).toBe(text);
});

it.each([
  [0, '0 seconds'],
  [1, '1 second'],
  [119, '119 seconds'],
  [120, '2 minutes'],
  [7_199, '119 minutes'],
  [7_200, '2 hours'],
  [400_000, '4 days'],
])('says how long %i seconds are', (seconds, words) => {
  expect(duration(seconds)).toBe(words);
});
