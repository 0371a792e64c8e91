import { expect, it } from 'vitest';
import { mapAtOnce } from './at-once.js';

it('works on a bounded number of items at the same time, and returns the results in their order', async () => {
  let [running, most] = [0, 0];
  const work = async (item: number) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return item * 2;
  };
  expect(await mapAtOnce([5, 4, 3, 2, 1], 2, work)).toEqual([10, 8, 6, 4, 2]);
  expect(most).toBe(2);
  expect(await mapAtOnce([], 2, work)).toEqual([]);
});

it('begins no more items after a failure', async () => {
  const begun: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    if (item === 2) throw new Error('failed');
  };
  await expect(mapAtOnce([1, 2, 3, 4], 1, work)).rejects.toThrow('failed');
  expect(begun).toEqual([1, 2]);
});
