import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FUNCTIONS } from './index.js';

/** `dec_add` is in `dec-add.ts`, `startsWith` in `starts-with.ts`. */
const fileOf = (name: string) => name.replaceAll('_', '-').replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);

it('keeps every function in a file of its own, with its table of cases beside it', () => {
  const files = new Set(readdirSync(new URL('.', import.meta.url)));
  const expected = FUNCTIONS.flatMap(({ name }) => [`${fileOf(name)}.ts`, `${fileOf(name)}.test.ts`]);
  expect(expected.filter((file) => !files.has(file))).toEqual([]);
});

it('has no two functions that are called alike', () => {
  const calls = FUNCTIONS.map(({ name, method }) => `${method ? '.' : ''}${name}`);
  expect(new Set(calls).size).toBe(calls.length);
});
