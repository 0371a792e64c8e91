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
      const results = items.map(
        (item): GroupResult<string> => (item === 'bad' ? { error: new Error(item) } : { answer: `${item}!` }),
      );
      ends.set(name, (error) =>
        error === undefined ? resolve({ results, left: undefined }) : reject(error),
      );
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

test('one tenant does not take all room of those that wait, whatever the keys of its items', async () => {
  const { groups, end } = controlled({ waitingMax: 8 });
  const runs = Array.from({ length: 6 }, (_, n) => groups.run(`a${n}`, `a${n}`, 'ten_a'));
  await expect(groups.run('a', 'a', 'ten_a')).rejects.toMatchObject({ code: 'server_busy' });
  const other = groups.run('b', 'b', 'ten_b');
  await settled();
  for (const item of ['a0', 'a1', 'b']) end(item);
  expect(await other).toBe('b!');
  await settled();
  runs.push(groups.run('a0', 'a6', 'ten_a'));
  await settled();
  for (const item of ['a2', 'a3', 'a4', 'a5', 'a6']) end(item);
  expect(await Promise.all(runs)).toHaveLength(7);
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

/** Waits that the test ends. */
function waits() {
  const ends: (() => void)[] = [];
  const gather = () => new Promise<void>((resolve) => ends.push(resolve));
  return { gather, begun: () => ends.length, end: () => ends.pop()?.() };
}

test('half of the items that have no answer are enough for the next group, which begins before the last one ends', async () => {
  const { groups, begun, end } = controlled({ gather: waits().gather });
  const runs = ['a1', 'a2'].map((name) => groups.run('a', name));
  await settled();
  for (const name of ['a3', 'a4', 'a5', 'a6']) runs.push(groups.run('a', name));
  await settled();
  expect(begun).toEqual(['a1 a2', 'a3 a4 a5 a6']);
  // Two groups at most are worked on: a third begins when the first has ended.
  for (const name of ['a7', 'a8', 'a9']) runs.push(groups.run('a', name));
  await settled();
  expect(begun).toHaveLength(2);
  end('a1 a2');
  await settled();
  // Nine had no answer: half are five.
  expect(begun).toHaveLength(2);
  for (const name of ['a10', 'a11']) runs.push(groups.run('a', name));
  await settled();
  expect(begun.slice(2)).toEqual(['a7 a8 a9 a10 a11']);
  end('a3 a4 a5 a6');
  end('a7 a8 a9 a10 a11');
  expect(await Promise.all(runs)).toHaveLength(11);
});

test('a group of fewer items waits a while for more after the end of the one before', async () => {
  const { gather, begun: waitsBegun, end: endWait } = waits();
  const { groups, begun, end } = controlled({ gather });
  const runs = ['a1', 'a2', 'a3', 'a4'].map((name) => groups.run('a', name));
  runs.push(groups.run('b', 'b1'));
  await settled();
  end('b1');
  end('a1 a2 a3 a4');
  await settled();
  runs.push(groups.run('a', 'a5'));
  await settled();
  expect([begun, waitsBegun()]).toEqual([['a1 a2 a3 a4', 'b1'], 2]);
  endWait();
  await settled();
  expect(begun).toEqual(['a1 a2 a3 a4', 'b1', 'a5']);
  end('a5');
  expect(await Promise.all(runs)).toEqual(['a1!', 'a2!', 'a3!', 'a4!', 'b1!', 'a5!']);
});

test('a group is given what the one before has left when that has ended, and nothing when that has failed', async () => {
  const given: string[] = [];
  const ends: (() => void)[] = [];
  const groups = new Groups<string, string, string>(
    async (items, before) => {
      const left = before === undefined ? 'no group' : await before;
      given.push(`${items.join(' ')} after ${left}`);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (items.includes('bad')) throw new Error('no');
      return { results: items.map((item) => ({ answer: `${item}!` })), left: items.join(' ') };
    },
    { gather: async () => {} },
  );
  const first = groups.run('a', 'a1');
  await settled();
  const second = groups.run('a', 'a2');
  await settled();
  expect(given).toEqual(['a1 after no group']);
  ends[0]?.();
  expect(await first).toBe('a1!');
  const third = expect(groups.run('a', 'bad')).rejects.toThrow('no');
  await settled();
  const last = ['a3', 'a4'].map((name) => groups.run('a', name));
  ends[1]?.();
  expect(await second).toBe('a2!');
  await settled();
  ends[2]?.();
  await third;
  await settled();
  ends[3]?.();
  expect(await Promise.all(last)).toEqual(['a3!', 'a4!']);
  expect(given).toEqual(['a1 after no group', 'a2 after a1', 'bad after a2', 'a3 a4 after undefined']);
});
