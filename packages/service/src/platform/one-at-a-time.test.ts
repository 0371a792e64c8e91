import { expect, it } from 'vitest';
import { OneAtATime } from './one-at-a-time.js';

/** Work that ends when the test says so. */
function held(begun: string[], name: string) {
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = async () => {
    begun.push(name);
    await ended;
    return name;
  };
  return { work, end: () => end() };
}

it('does work of one key in its order, one after the other, and of others at once', async () => {
  const lines = new OneAtATime();
  const begun: string[] = [];
  const first = held(begun, 'first');
  const second = held(begun, 'second');
  const other = held(begun, 'other');
  const all = [lines.run('a', first.work), lines.run('a', second.work), lines.run('b', other.work)];
  await new Promise(setImmediate);
  expect(begun).toEqual(['first', 'other']);
  first.end();
  expect(await all[0]).toBe('first');
  await new Promise(setImmediate);
  expect(begun).toEqual(['first', 'other', 'second']);
  second.end();
  other.end();
  expect(await Promise.all(all)).toEqual(['first', 'second', 'other']);
});

it('goes on after work that fails, and refuses what is too much', async () => {
  const lines = new OneAtATime(2);
  const failing = lines.run('a', () => Promise.reject(new Error('broken')));
  const next = lines.run('a', async () => 'done');
  await expect(lines.run('a', async () => 'never')).rejects.toMatchObject({ code: 'server_busy' });
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
  expect(await lines.run('a', async () => 'again')).toBe('again');
});
