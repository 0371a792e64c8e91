import { expect, it } from 'vitest';
import { clickHouseBehind, runBlocksCall, runCall, upToDateBehind } from './clickhouse-calls.js';

const answer = (text: string) => JSON.stringify({ meta: [], data: { text: [text] }, rows: 1 });
const reader = (text: string) => ({
  queryText: async () => answer(text),
  exportRowsUpTo: async (bytesMax: number) => (text.length > bytesMax ? undefined : Buffer.from(text)),
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
  const { query, exportRowsUpTo } = upToDateBehind(
    // Another thread gets bytes as no Buffer.
    (async (name: 'query' | 'exportRowsUpTo', input: Parameters<typeof runBlocksCall>[1]) => {
      if (name === 'query') return runCall(clickhouse, input);
      const bytes = await runBlocksCall(clickhouse, input);
      return bytes && Uint8Array.from(bytes);
    }) as never,
    ['events'],
  );
  expect(await query('SELECT text FROM events')).toEqual([{ text: 'up to date' }]);
  expect((await exportRowsUpTo(10, 'SELECT text FROM events'))?.toString('utf8')).toBe('up to date');
  expect(await exportRowsUpTo(9, 'SELECT text FROM events')).toBeUndefined();
  expect(asked).toEqual([['events'], ['events'], ['events']]);
});

it('reads any replica otherwise', async () => {
  const { query } = clickHouseBehind((_name, input) => runCall(clickhouse, input));
  expect(await query('SELECT text FROM events')).toEqual([{ text: 'of any replica' }]);
  const plain = await runBlocksCall(clickhouse, { bytesMax: 99, sql: 'SELECT text FROM events', params: {} });
  expect(plain).toEqual(Buffer.from('of any replica'));
});
