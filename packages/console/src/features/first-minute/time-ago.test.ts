import { expect, it } from 'vitest';
import { timeAgo } from './time-ago.js';

it.each([
  [0, 'just now'],
  [-5, 'just now'],
  [3, '3 s ago'],
  [59, '59 s ago'],
  [60, '1 min ago'],
  [3_599, '59 min ago'],
  [7_200, '2 h ago'],
  [86_400, 'a day ago'],
  [200_000, '2 days ago'],
])('%i seconds: %s', (seconds, expected) => {
  expect(timeAgo(1_000_000, 1_000_000 + seconds)).toBe(expected);
});
