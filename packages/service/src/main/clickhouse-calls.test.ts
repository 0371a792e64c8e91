import { expect, it } from 'vitest';
import { clickHouseBehind, runCall } from './clickhouse-calls.js';

it('reads tables up to date where the thread asks for it', async () => {
  const asked: unknown[] = [];
  const answer = (text: string) => JSON.stringify({ meta: [], data: { text: [text] }, rows: 1 });
  const reader = (text: string) => ({ queryText: async () => answer(text) });
  const clickhouse = {
    ...reader('of any replica'),
    upToDate: async (tables: readonly string[]) => {
      asked.push(tables);
      return reader('up to date') as never;
    },
  };
  const { query } = clickHouseBehind((_name, input) => runCall(clickhouse, input), ['events']);
  expect(await query('SELECT text FROM events')).toEqual([{ text: 'up to date' }]);
  expect(asked).toEqual([['events']]);
  const plain = await runCall(clickhouse, { sql: 'SELECT text FROM events', params: {} });
  expect(plain).toBe(answer('of any replica'));
});
