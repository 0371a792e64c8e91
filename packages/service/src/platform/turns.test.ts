import { expect, it } from 'vitest';
import { atOnce } from '../kernel/pieces.js';
import { inTurns } from './turns.js';

function* counting(seen: number[]) {
  for (let piece = 1; piece <= 10; piece += 1) {
    seen.push(piece);
    yield;
  }
  return 'done';
}

it('lets others pass whenever a turn is over', async () => {
  let ms = 0;
  const seen: number[] = [];
  const passed: number[] = [];
  const pass = () => {
    passed.push(seen.length);
    if (seen.length < 10) setImmediate(pass);
  };
  setImmediate(pass);
  // Each piece takes a millisecond.
  expect(await inTurns(counting(seen), () => ms++)).toBe('done');
  expect(seen).toHaveLength(10);
  expect(passed).toContain(4);
  expect(passed).toContain(8);
});

it('passes on what a piece throws', async () => {
  function* failing() {
    yield;
    throw new Error('broken');
  }
  await expect(inTurns(failing())).rejects.toThrow('broken');
  expect(() => atOnce(failing())).toThrow('broken');
});

it('can be done at once', () => {
  const seen: number[] = [];
  expect(atOnce(counting(seen))).toBe('done');
  expect(seen).toHaveLength(10);
});
