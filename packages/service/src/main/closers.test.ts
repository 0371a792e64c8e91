import { describe, expect, test } from 'vitest';
import { Closers } from './closers.js';

function closersOf(closed: string[], ...names: string[]): Closers {
  const closers = new Closers();
  for (const name of names) {
    closers.add(async () => {
      closed.push(name);
      if (name.startsWith('broken')) throw new Error(name);
    });
  }
  return closers;
}

describe('closing', () => {
  test('goes backwards, and happens once', async () => {
    const closed: string[] = [];
    const closers = closersOf(closed, 'store', 'pipeline', 'api');
    await closers.closeAll();
    await closers.closeAll();
    expect(closed).toEqual(['api', 'pipeline', 'store']);
  });

  test('goes on behind a failure, and throws the first', async () => {
    const closed: string[] = [];
    const closers = closersOf(closed, 'store', 'broken pipeline', 'broken api');
    await expect(closers.closeAll()).rejects.toThrow('broken api');
    expect(closed).toEqual(['broken api', 'broken pipeline', 'store']);
  });

  test('on account of an error throws that error', async () => {
    const closed: string[] = [];
    await expect(closersOf(closed, 'store', 'broken api').closeAfter(new Error('port'))).rejects.toThrow(
      'port',
    );
    expect(closed).toEqual(['broken api', 'store']);
  });
});
