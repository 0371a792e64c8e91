import { expect, it } from 'vitest';
import { FairTurns } from './fair-turns.js';

it('runs one piece of each owner, so many at once, and lets owners take turns', async () => {
  const turns = new FairTurns(2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (owner: string, name: string) =>
    turns.run(owner, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string, promise: Promise<string>) => {
    ends.get(name)?.();
    expect(await promise).toBe(name);
    await Promise.resolve();
  };
  const [a1, a2, b1, c1, c2] = [
    work('a', 'a1'),
    work('a', 'a2'),
    work('b', 'b1'),
    work('c', 'c1'),
    work('c', 'c2'),
  ];
  expect(begun).toEqual(['a1', 'b1']);
  await end('b1', b1);
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  await end('a1', a1);
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  await end('c1', c1);
  expect(begun.at(-1)).toBe('c2');
  await end('c2', c2);
  await end('a2', a2);
});

it('goes on after work that failed', async () => {
  const turns = new FairTurns(1);
  const failed = turns.run('a', () => Promise.reject(new Error('away')));
  const next = turns.run('a', async () => 'done');
  await expect(failed).rejects.toThrow('away');
  expect(await next).toBe('done');
});
