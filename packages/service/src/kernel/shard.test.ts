import { describe, expect, it } from 'vitest';
import { SHARDS_MAX, SLOTS, shardOf, slotOf, storedShardsOf } from './shard.js';

const COUNTS = Array.from({ length: SHARDS_MAX }, (_, index) => index + 1);

describe('shards', () => {
  it('keep projects of the same slot together, whatever the number of shards is', () => {
    for (const shards of COUNTS) {
      for (const projectNo of [0, 1, 7, 63, 64, 1_000, 2 ** 31 - 1]) {
        expect(shardOf(projectNo, shards)).toBe(shardOf(projectNo + SLOTS, shards));
        expect(shardOf(projectNo, shards)).toBeLessThan(shards);
      }
    }
  });

  it('refuse a number that no project can have', () => {
    for (const projectNo of [-1, 0.5, Number.NaN]) expect(() => slotOf(projectNo)).toThrow(RangeError);
  });

  it('give every stored row to exactly one owner after the number of shards has changed', () => {
    for (const shards of COUNTS) {
      const stored = Array.from({ length: shards }, (_, shard) =>
        storedShardsOf(new Set([shard]), shards),
      ).flat();
      expect(stored.sort((a, b) => a - b)).toEqual(Array.from({ length: SHARDS_MAX }, (_, shard) => shard));
    }
  });
});
