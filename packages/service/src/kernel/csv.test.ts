import { expect, it } from 'vitest';
import { csvLine, csvText } from './csv.js';

it.each([
  [null, ''],
  ['', '""'],
  ['plain text', 'plain text'],
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['=1+1', "'=1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['-3', "'-3"],
  ['+cmd|x', "'+cmd|x"],
  ['\tx', "'\tx"],
  ['=a,"b"', '"\'=a,""b"""'],
])('writes %j as %j', (text, cell) => {
  expect(csvText(text)).toBe(cell);
});

it('ends each line as RFC 4180 does', () => {
  expect(csvLine(['a', '', '1'])).toBe('a,,1\r\n');
});
