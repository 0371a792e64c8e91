import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FUNCTIONS } from './index.js';

/** The cases of `dec_add` are in `dec-add.test.ts`, those of `startsWith` in `starts-with.test.ts`. */
const fileOf = (name: string) => name.replaceAll('_', '-').replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);

it('has a table of cases for every function', () => {
  const files = new Set(readdirSync(new URL('.', import.meta.url)));
  const expected = FUNCTIONS.map(({ name }) => `${fileOf(name)}.test.ts`);
  expect(expected.filter((file) => !files.has(file))).toEqual([]);
});

it('has no two functions that are called alike', () => {
  const calls = FUNCTIONS.map(({ name, method }) => `${method ? '.' : ''}${name}`);
  expect(new Set(calls).size).toBe(calls.length);
});
