import { expect, test } from 'vitest';
import { rowsOf } from './rows.js';

test.each<[string, Record<string, unknown[]>, object[]]>([
  [
    'each with all columns',
    { n: [1, 2], text: ['a', null] },
    [
      { n: 1, text: 'a' },
      { n: 2, text: null },
    ],
  ],
  ['none', { n: [], text: [] }, []],
  ['of one column', { n: ['7'] }, [{ n: '7' }]],
])('rows are made of columns: %s', (_, data, rows) => {
  expect(rowsOf({ data: data as never })).toEqual(rows);
});
