import { expect, it } from 'vitest';
import { QueryQueue } from './query-queue.js';

/** Work that ends when it is told to. */
function heldWork() {
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => ends.push(resolve));
  return { ends, work };
}

it('runs one query of a project at a time, and two in all', async () => {
  const queue = new QueryQueue();
  const { ends, work } = heldWork();
  const asked = ['a', 'a', 'b', 'c'].map((projectId) => queue.run(projectId, work));
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
  const asked = Array.from({ length: 300 }, () => queue.run('a', work));
  await expect(queue.run('a', work)).rejects.toMatchObject({ code: 'analysis_busy', statusCode: 503 });
  asked.push(queue.run('b', work));
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  await Promise.all(asked);
  const again = queue.run('a', work);
  ends.shift()?.();
  await again;
});

it('answers what the work throws, and goes on', async () => {
  const queue = new QueryQueue();
  await expect(queue.run('a', async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(queue.run('a', async () => 1)).resolves.toBe(1);
});
