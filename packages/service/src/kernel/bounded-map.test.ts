import { expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.js';

it('drops the entry that was set longest ago', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([3, undefined, 4]);
  expect(['a', 'b', 'c'].map((key) => map.has(key))).toEqual([true, false, true]);
});

it('has room again after a deletion', () => {
  const map = new BoundedMap<string, number>(1);
  map.set('a', 1);
  map.delete('a');
  map.set('b', 2);
  expect(map.get('b')).toBe(2);
  map.clear();
  expect(map.has('b')).toBe(false);
});

it('never holds more than it may, whatever is set and deleted', () => {
  const map = new BoundedMap<number, number>(100);
  for (let number = 0; number < 10_000; number += 1) {
    map.set(number, number);
    if (number % 7 === 0) map.delete(number - 50);
  }
  const held = Array.from({ length: 10_000 }, (_, number) => number).filter((number) => map.has(number));
  expect(held.length).toBeLessThanOrEqual(100);
  expect(held.at(-1)).toBe(9_999);
});
