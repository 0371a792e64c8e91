import { expect, it } from 'vitest';
import { QueryQueue } from './query-queue.js';

/** A project of a tenant with no other. */
const alone = (projectId: string) => ({ tenantId: `tenant of ${projectId}`, projectId });

/** Work that ends when the test ends it. */
function heldWork() {
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => ends.push(resolve));
  return { ends, work };
}

it('runs one query of a project at a time, and two in all', async () => {
  const queue = new QueryQueue();
  const { ends, work } = heldWork();
  const asked = ['a', 'a', 'b', 'c'].map((projectId, i) => queue.run(alone(projectId), i, work));
  expect(ends.length).toBe(2);
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  await Promise.all(asked);
});

it('refuses more of one project than may wait, and lets others in', async () => {
  const queue = new QueryQueue();
  const { ends, work } = heldWork();
  const asked = Array.from({ length: 300 }, (_, i) => queue.run(alone('a'), i, work));
  await expect(queue.run(alone('a'), 'more', work)).rejects.toMatchObject({
    code: 'analysis_busy',
  });
  asked.push(queue.run(alone('b'), 'more', work));
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  await Promise.all(asked);
  const again = queue.run(alone('a'), 'more', work);
  ends.shift()?.();
  await again;
});

it('refuses more of all projects of a tenant than its share, and lets other tenants in', async () => {
  const queue = new QueryQueue();
  const { ends, work } = heldWork();
  const ask = (tenantId: string, i: number) =>
    queue.run({ tenantId, projectId: `${tenantId}${i % 10}` }, i, work);
  const asked = Array.from({ length: 750 }, (_, i) => ask('a', i));
  await expect(ask('a', 750)).rejects.toMatchObject({ code: 'analysis_busy' });
  asked.push(...Array.from({ length: 100 }, (_, i) => ask('b', i)));
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  await Promise.all(asked);
});

it('rejects with the error of the work, and continues', async () => {
  const queue = new QueryQueue();
  await expect(queue.run(alone('a'), 'q', async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(queue.run(alone('a'), 'q', async () => 1)).resolves.toBe(1);
});

it('asks once what several wait for, and again what has begun', async () => {
  const queue = new QueryQueue();
  let begun = 0;
  const ends: (() => void)[] = [];
  const work = () => {
    begun += 1;
    const answer = begun;
    return new Promise<number>((resolve) => ends.push(() => resolve(answer)));
  };
  const asked = [1, 2, 3].map(() => queue.run(alone('a'), { metrics: ['m'] }, work));
  const other = queue.run(alone('b'), { metrics: ['m'] }, work);
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  expect(await Promise.all(asked)).toEqual([1, 3, 3]);
  expect(await other).toBe(2);
});
