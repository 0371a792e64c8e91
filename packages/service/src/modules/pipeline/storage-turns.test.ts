import { describe, expect, it } from 'vitest';
import { type RowStorage, StorageTurns } from './storage-turns.js';

const EVERYBODY: readonly RowStorage[] = [7, null, 3];

describe('StorageTurns', () => {
  it('lets everybody who waits have a turn before anybody has a second', () => {
    const turns = new StorageTurns();
    const had = Array.from({ length: 6 }, () => turns.next(EVERYBODY, 0)?.storage);
    expect(had).toEqual([null, 3, 7, null, 3, 7]);
  });

  it('continues from its place, however the storages changed', () => {
    const turns = new StorageTurns();
    expect(turns.next([null, 3], 0)).toEqual({ storage: null });
    expect(turns.next([null, 2, 9], 0)).toEqual({ storage: 2 });
    expect(turns.next([null, 1], 0)).toEqual({ storage: null });
    expect(turns.next([], 0)).toBeUndefined();
  });

  it('passes over those who pause, and says how long the first of them does', () => {
    const turns = new StorageTurns();
    turns.pause(null, 400);
    turns.pause(7, 300);
    expect(turns.next(EVERYBODY, 100)).toEqual({ storage: 3 });
    expect(turns.next([null, 7], 100)).toBeUndefined();
    expect(turns.waitMs([null, 7], 100)).toBe(200);
    expect(turns.next([null, 7], 300)).toEqual({ storage: 7 });
    expect(turns.next([null, 7], 400)).toEqual({ storage: null });
  });
});
