import { expect, it } from 'vitest';
import { forEachAtOnce, mapAtOnce } from './at-once.js';

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

async function* numbers(...items: number[]) {
  yield* items;
}

it('takes items as they come, a bounded number at the same time', async () => {
  let [running, most] = [0, 0];
  const done: number[] = [];
  await forEachAtOnce(numbers(1, 2, 3, 4, 5), 2, async (item) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    done.push(item);
  });
  expect(done).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
});

it('takes no more items after a failure, and waits for those that it has begun', async () => {
  const [begun, done]: [number[], number[]] = [[], []];
  const work = async (item: number) => {
    begun.push(item);
    if (item === 2) throw new Error('failed');
    await new Promise((resolve) => setImmediate(resolve));
    done.push(item);
  };
  await expect(forEachAtOnce(numbers(1, 2, 3, 4), 2, work)).rejects.toThrow('failed');
  expect([begun, done]).toEqual([[1, 2], [1]]);
});
