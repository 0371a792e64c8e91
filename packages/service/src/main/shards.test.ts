import { expect, it } from 'vitest';
import { shardsFor } from './shards.js';

it.each([
  [1, 1],
  [2, 1],
  [3, 4],
  [4, 4],
  [5, 8],
  [12, 16],
  [64, 64],
  [96, 64],
])('a new installation on %i cores gets %i shards', (cores, shards) => {
  expect(shardsFor(cores)).toBe(shards);
});
