import { expect, it } from 'vitest';
import { clickHouseBehind, runBlocksCall, runCall, upToDateBehind } from './clickhouse-calls.js';

const answer = (text: string) => JSON.stringify({ meta: [], data: { text: [text] }, rows: 1 });
const reader = (text: string) => ({
  queryText: async () => answer(text),
  exportRows: async () => Buffer.from(text),
});
const asked: unknown[] = [];
const clickhouse = {
  ...reader('of any replica'),
  upToDate: async (tables: readonly string[]) => {
    asked.push(tables);
    return reader('up to date') as never;
  },
};

it('reads tables up to date where the thread asks for it', async () => {
  const { query, exportRows } = upToDateBehind(
    // Another thread gets bytes as no Buffer.
    (async (name: 'query' | 'exportRows', input: Parameters<typeof runCall>[1]) =>
      name === 'query'
        ? runCall(clickhouse, input)
        : Uint8Array.from(await runBlocksCall(clickhouse, input))) as never,
    ['events'],
  );
  expect(await query('SELECT text FROM events')).toEqual([{ text: 'up to date' }]);
  expect((await exportRows('SELECT text FROM events')).toString('utf8')).toBe('up to date');
  expect(asked).toEqual([['events'], ['events']]);
});

it('reads any replica otherwise', async () => {
  const { query } = clickHouseBehind((_name, input) => runCall(clickhouse, input));
  expect(await query('SELECT text FROM events')).toEqual([{ text: 'of any replica' }]);
  const plain = await runBlocksCall(clickhouse, { sql: 'SELECT text FROM events', params: {} });
  expect(Buffer.from(plain).toString('utf8')).toBe('of any replica');
});
