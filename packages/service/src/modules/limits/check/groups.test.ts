import { expect, test } from 'vitest';
import { type GroupOptions, type GroupResult, Groups } from './groups.js';

/** Groups whose work the test ends. */
function controlled(options?: GroupOptions) {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const groups = new Groups<string, string>((items) => {
    const name = items.join(' ');
    begun.push(name);
    return new Promise((resolve, reject) => {
      const outcomes = items.map(
        (item): GroupResult<string> => (item === 'bad' ? { error: new Error(item) } : { answer: `${item}!` }),
      );
      ends.set(name, (error) => (error === undefined ? resolve(outcomes) : reject(error)));
    });
  }, options);
  return { groups, begun, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

/** Waits until a group is done and the next one has begun. */
async function settled() {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('what comes while a group is worked on goes together next, in its order; other keys do not wait', async () => {
  const { groups, begun, end } = controlled();
  const runs = [groups.run('a', 'a1')];
  await settled();
  for (const name of ['a2', 'a3', 'a4']) runs.push(groups.run('a', name));
  runs.push(groups.run('b', 'b1'));
  await settled();
  expect(begun).toEqual(['a1', 'b1']);
  end('a1');
  await settled();
  expect(begun).toEqual(['a1', 'b1', 'a2 a3 a4']);
  end('a2 a3 a4');
  end('b1');
  expect(await Promise.all(runs)).toEqual(['a1!', 'a2!', 'a3!', 'a4!', 'b1!']);
});

test('what arrives together goes together, up to so many', async () => {
  const { groups, begun, end } = controlled({ groupMax: 2 });
  const runs = ['a1', 'a2', 'a3'].map((name) => groups.run('a', name));
  await settled();
  end('a1 a2');
  await settled();
  end('a3');
  await Promise.all(runs);
  expect(begun).toEqual(['a1 a2', 'a3']);
});

test('an item that fails fails alone', async () => {
  const { groups, end } = controlled();
  const runs = ['a1', 'bad', 'a3'].map((name) => groups.run('a', name));
  await settled();
  end('a1 bad a3');
  const outcomes = await Promise.allSettled(runs);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a group that fails fails whole, and holds up nobody', async () => {
  const { groups, end } = controlled();
  const failing = [groups.run('a', 'a1'), groups.run('a', 'a2')].map((run) =>
    expect(run).rejects.toThrow('no'),
  );
  await settled();
  const next = groups.run('a', 'a3');
  end('a1 a2', new Error('no'));
  await Promise.all(failing);
  await settled();
  end('a3');
  expect(await next).toBe('a3!');
});

test('a bounded number waits; room is made by what ends', async () => {
  const { groups, end } = controlled({ waitingMax: 2 });
  const runs = [groups.run('a', 'a1'), groups.run('a', 'a2')];
  await expect(groups.run('b', 'b1')).rejects.toMatchObject({ code: 'server_busy' });
  await settled();
  end('a1 a2');
  await Promise.all(runs);
  const third = groups.run('b', 'b1');
  await settled();
  end('b1');
  expect(await third).toBe('b1!');
});

test('returns how many items wait, since when, and how many were refused or failed together', async () => {
  let nowMs = 1_000;
  const { groups, end } = controlled({ waitingMax: 2, monotonicMs: () => nowMs });
  const state = () => [groups.depth, groups.oldestAgeMs, groups.refusedCount, groups.failedCount];
  expect(state()).toEqual([0, 0, 0, 0]);
  const first = groups.run('a', 'a1');
  await settled();
  nowMs += 500;
  const second = groups.run('b', 'b1').catch(() => 'failed');
  await expect(groups.run('b', 'b2')).rejects.toThrow();
  await settled();
  nowMs += 200;
  expect(state()).toEqual([2, 700, 1, 0]);
  end('a1');
  expect(await first).toBe('a1!');
  expect(state()).toEqual([1, 200, 1, 0]);
  end('b1', new Error('away'));
  expect(await second).toBe('failed');
  expect(state()).toEqual([0, 0, 1, 1]);
});

test('a group that is smaller than the one before it may wait for more', async () => {
  let endWait = () => {};
  let waits = 0;
  const gather = () => {
    waits += 1;
    return new Promise<void>((resolve) => {
      endWait = resolve;
    });
  };
  const { groups, begun, end } = controlled({ gather });
  const runs = ['a1', 'a2', 'a3'].map((name) => groups.run('a', name));
  await settled();
  runs.push(groups.run('a', 'a4'));
  end('a1 a2 a3');
  await settled();
  expect([begun, waits]).toEqual([['a1 a2 a3'], 1]);
  runs.push(groups.run('a', 'a5'));
  endWait();
  await settled();
  for (const name of ['a6', 'a7']) runs.push(groups.run('a', name));
  end('a4 a5');
  await settled();
  end('a6 a7');
  await Promise.all(runs);
  expect([begun, waits]).toEqual([['a1 a2 a3', 'a4 a5', 'a6 a7'], 1]);
});
