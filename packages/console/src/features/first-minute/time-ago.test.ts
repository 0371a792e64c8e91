import { expect, it } from 'vitest';
import { timeAgo } from './time-ago.js';

it.each([
  [0, 'just now'],
  [-5, 'just now'],
  [3, '3 s ago'],
  [59, '59 s ago'],
  [150, '2 minutes ago'],
])('%i seconds: %s', (seconds, expected) => {
  expect(timeAgo(1_000_000, 1_000_000 + seconds)).toBe(expected);
});
