import { expect, it } from 'vitest';
import { ListCursors } from './cursor.js';

const ID = '684ee180000102030405060708090a0b';
const CURSORS = new ListCursors('usage events', ID.length / 2);
const QUERY = ['ten_1', 'prj_1', 'status', 'failed'];

const encode = (id: string, query: readonly string[]) => CURSORS.encode(Buffer.from(id, 'hex'), query);
const decode = (cursor: string, query: readonly string[]) => CURSORS.decode(cursor, query)?.toString('hex');

it('leads back to the position', () => {
  expect(decode(encode(ID, QUERY), QUERY)).toBe(ID);
});

it('is refused by another list', () => {
  const others = new ListCursors('ledger', ID.length / 2);
  expect(others.decode(encode(ID, QUERY), QUERY)).toBeUndefined();
});

it.each([
  ['another project', ['ten_1', 'prj_2', 'status', 'failed']],
  ['other filters', ['ten_1', 'prj_1']],
])('is refused with %s', (_, query) => {
  expect(decode(encode(ID, QUERY), query)).toBeUndefined();
});

it('is refused when any character of it was changed, added or taken away', () => {
  const cursor = encode(ID, QUERY);
  for (let at = 0; at < cursor.length; at++) {
    const other = cursor[at] === 'A' ? 'B' : 'A';
    const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
    expect(decode(changed, QUERY), changed).toBeUndefined();
  }
  for (const wrong of ['', cursor.slice(1), `${cursor}A`, `${cursor}=`, ` ${cursor}`, '\0', 'evt_1', '💥']) {
    expect(decode(wrong, QUERY), wrong).toBeUndefined();
  }
});
