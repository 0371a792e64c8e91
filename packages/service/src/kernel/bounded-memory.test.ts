import { expect, it } from 'vitest';
import { BoundedMemory } from './bounded-memory.js';

it('forgets what it has held longest, and never what was last added', () => {
  const forgotten: string[] = [];
  const memory = new BoundedMemory(10);
  const add = (name: string, bytes: number) => memory.add({ bytes, forget: () => forgotten.push(name) });
  add('a', 4);
  add('b', 6);
  expect(forgotten).toEqual([]);
  add('c', 1);
  expect(forgotten).toEqual(['a']);
  add('d', 100);
  expect(forgotten).toEqual(['a', 'b', 'c']);
  add('e', 10);
  expect(forgotten).toEqual(['a', 'b', 'c', 'd']);
});
