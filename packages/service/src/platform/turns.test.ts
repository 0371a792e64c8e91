import { expect, it } from 'vitest';
import { Turns } from './turns.js';

it('is over after its time, and restarts after a rest of known length', async () => {
  let ms = 0;
  const rested: number[] = [];
  const turns = new Turns(
    () => ms,
    async (turnMs) => void rested.push(turnMs),
  );
  ms = 3;
  expect(turns.isOver).toBe(false);
  ms = 5;
  expect(turns.isOver).toBe(true);
  await turns.pause();
  expect([turns.isOver, rested]).toEqual([false, [5]]);
});

it('gives the thread back where no other rest is asked for', async () => {
  let hasPassed = false;
  setImmediate(() => {
    hasPassed = true;
  });
  await new Turns().pause();
  expect(hasPassed).toBe(true);
});
