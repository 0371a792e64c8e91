import { expect, it } from 'vitest';
import { KeyCounts } from './key-counts.js';

it('counts by key, and forgets keys with none', () => {
  const counts = new KeyCounts();
  counts.add('a', 2);
  counts.add('b', 0);
  counts.add('a', 1);
  expect([counts.of('a'), counts.of('b')]).toEqual([3, 0]);
  expect([...counts.all]).toEqual([['a', 3]]);
  counts.add('a', -3);
  expect(counts.all.size).toBe(0);
});
