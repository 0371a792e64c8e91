import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { doAtOnce, SpacedWork } from './spaced-work.js';

let done: string[];

function* piece(...names: string[]): Generator<void, void> {
  for (const name of names) {
    done.push(name);
    yield;
  }
}

it('is done in order, a step in each turn, so that others come between', async () => {
  done = [];
  const spaced = new SpacedWork();
  spaced.add(piece('a1', 'a2'));
  spaced.add(piece('b1'));
  for (let turn = 1; turn <= 6; turn += 1) {
    await nextTurn();
    done.push(String(turn));
  }
  expect(done).toEqual(['a1', '1', 'a2', '2', '3', 'b1', '4', '5', '6']);
});

it('goes on after a pause, and with work that other work adds', async () => {
  done = [];
  const spaced = new SpacedWork();
  const adding = (function* () {
    done.push('a');
    spaced.add(piece('b'));
    yield;
  })();
  spaced.add(adding);
  await nextTurn();
  expect(done).toEqual(['a']);
  for (let turn = 1; turn <= 3; turn += 1) await nextTurn();
  expect(done).toEqual(['a', 'b']);
  spaced.add(piece('c'));
  await nextTurn();
  expect(done).toEqual(['a', 'b', 'c']);
});

it('can be done at once', () => {
  done = [];
  doAtOnce(piece('a', 'b'));
  expect(done).toEqual(['a', 'b']);
});
