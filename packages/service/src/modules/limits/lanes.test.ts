import { expect, test } from 'vitest';
import { Lanes } from './lanes.js';

/** Work that ends when it is told to. */
function controlled() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve, reject) => {
      ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
    });
  };
  return { begun, work, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('work of one key goes one after the other, of different keys at once', async () => {
  const lanes = new Lanes();
  const { begun, work, end } = controlled();
  const runs = [lanes.run('a', work('a1')), lanes.run('a', work('a2')), lanes.run('b', work('b1'))];
  await settled();
  expect(begun).toEqual(['a1', 'b1']);
  end('a1');
  await settled();
  expect(begun).toEqual(['a1', 'b1', 'a2']);
  end('a2');
  end('b1');
  expect(await Promise.all(runs)).toEqual(['a1', 'a2', 'b1']);
});

test('what fails holds up nobody', async () => {
  const lanes = new Lanes();
  const { begun, work, end } = controlled();
  const first = lanes.run('a', work('a1'));
  const second = lanes.run('a', work('a2'));
  await settled();
  end('a1', new Error('no'));
  await expect(first).rejects.toThrow('no');
  await settled();
  expect(begun).toEqual(['a1', 'a2']);
  end('a2');
  expect(await second).toBe('a2');
});

test('a bounded number waits; room is made by what ends', async () => {
  const lanes = new Lanes(2);
  const { work, end } = controlled();
  const runs = [lanes.run('a', work('a1')), lanes.run('a', work('a2'))];
  await expect(lanes.run('b', work('b1'))).rejects.toMatchObject({ code: 'server_busy' });
  await settled();
  end('a1');
  await runs[0];
  const third = lanes.run('b', work('b1'));
  await settled();
  end('a2');
  end('b1');
  expect(await third).toBe('b1');
});
