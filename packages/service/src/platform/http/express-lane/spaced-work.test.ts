import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SpacedWork } from './spaced-work.js';

it('is done in order, a piece in each turn, so that others come between', async () => {
  const spaced = new SpacedWork();
  const done: string[] = [];
  for (const name of ['a', 'b', 'c']) spaced.add(() => done.push(name));
  for (let turn = 1; turn <= 4; turn += 1) {
    await nextTurn();
    done.push(String(turn));
  }
  expect(done).toEqual(['a', '1', 'b', '2', 'c', '3', '4']);
});

it('goes on after a pause, and with work that other work adds', async () => {
  const spaced = new SpacedWork();
  const done: string[] = [];
  spaced.add(() => {
    done.push('a');
    spaced.add(() => done.push('b'));
  });
  await nextTurn();
  expect(done).toEqual(['a']);
  await nextTurn();
  expect(done).toEqual(['a', 'b']);
  await nextTurn();
  spaced.add(() => done.push('c'));
  await nextTurn();
  expect(done).toEqual(['a', 'b', 'c']);
});
