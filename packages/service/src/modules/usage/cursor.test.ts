import { expect, it } from 'vitest';
import { decodeEventCursor, encodeEventCursor } from './cursor.js';

const ID = '684ee180000102030405060708090a0b';
const QUESTION = ['ten_1', 'prj_1', 'status', 'failed'];

it('leads back to the id', () => {
  expect(decodeEventCursor(encodeEventCursor(ID, QUESTION), QUESTION)).toBe(ID);
});

it.each([
  ['another project', ['ten_1', 'prj_2', 'status', 'failed']],
  ['other filters', ['ten_1', 'prj_1']],
])('is refused with %s', (_, question) => {
  expect(decodeEventCursor(encodeEventCursor(ID, QUESTION), question)).toBeUndefined();
});

it('is refused when any character of it was changed, added or taken away', () => {
  const cursor = encodeEventCursor(ID, QUESTION);
  for (let at = 0; at < cursor.length; at++) {
    const other = cursor[at] === 'A' ? 'B' : 'A';
    const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
    expect(decodeEventCursor(changed, QUESTION), changed).toBeUndefined();
  }
  for (const wrong of ['', cursor.slice(1), `${cursor}A`, `${cursor}=`, ` ${cursor}`, '\0', 'evt_1', '💥']) {
    expect(decodeEventCursor(wrong, QUESTION), wrong).toBeUndefined();
  }
});
