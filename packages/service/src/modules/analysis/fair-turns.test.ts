import { expect, it } from 'vitest';
import { FairTurns } from './fair-turns.js';

const PROJECT = { tenantId: 'tenant', projectId: 'a' };

/** Works that end when the test ends them. */
function heldWorks() {
  const turns = new FairTurns(2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (projectId: string, name: string, tenantId = 'tenant') =>
    turns.run({ tenantId, projectId }, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string, promise: Promise<string>) => {
    ends.get(name)?.();
    expect(await promise).toBe(name);
    await Promise.resolve();
  };
  return { begun, work, end };
}

it('runs one piece of each project, so many at once, and lets projects take turns', async () => {
  const { begun, work, end } = heldWorks();
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

it('lets tenants take turns, however many projects they have', async () => {
  const { begun, work, end } = heldWorks();
  const ofA = ['a1', 'a2', 'a3', 'a4'].map((name) => [name, work(name, name, 'a')] as const);
  const b = ['b1', 'b2'].map((name) => [name, work('b', name, 'b')] as const);
  expect(begun).toEqual(['a1', 'a2']);
  const ended = new Map([...ofA, ...b]);
  const endOf = (name: string) => end(name, ended.get(name) as Promise<string>);
  await endOf('a1');
  expect(begun.at(-1)).toBe('b1');
  await endOf('b1');
  expect(begun.at(-1)).toBe('b2');
  await endOf('a2');
  expect(begun.at(-1)).toBe('a3');
  await endOf('b2');
  expect(begun.at(-1)).toBe('a4');
  await endOf('a3');
  await endOf('a4');
});

it('goes on after work that failed', async () => {
  const turns = new FairTurns(1);
  const failed = turns.run(PROJECT, () => Promise.reject(new Error('away')));
  const next = turns.run(PROJECT, async () => 'done');
  await expect(failed).rejects.toThrow('away');
  expect(await next).toBe('done');
});
