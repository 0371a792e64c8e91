import { expect, test } from 'vitest';
import { type QueryAnswer, rowsOf } from './rows.js';

const answer = (rows: number, data: Record<string, unknown[]>, more: object = {}) =>
  ({ rows, data, ...more }) as unknown as QueryAnswer;

test.each<[string, QueryAnswer, object[]]>([
  [
    'each with all columns',
    answer(2, { n: [1, 2], text: ['a', null] }),
    [
      { n: 1, text: 'a' },
      { n: 2, text: null },
    ],
  ],
  ['none', answer(0, { n: [], text: [] }), []],
  ['of one column', answer(1, { n: ['7'] }), [{ n: '7' }]],
])('rows are made of columns: %s', (_, whole, rows) => {
  expect(rowsOf(whole)).toEqual(rows);
});

test.each<[string, QueryAnswer, string]>([
  ['that was broken off', answer(1, { n: [1] }, { exception: 'no time left' }), 'no time left'],
  ['with a column too short', answer(2, { n: [1, 2], m: [1] }), '1 values of m for 2 rows'],
  ['with a column too long', answer(1, { n: [1, 2] }), '2 values of n for 1 rows'],
])('an answer %s is none', (_, broken, message) => {
  expect(() => rowsOf(broken)).toThrow(message);
});
