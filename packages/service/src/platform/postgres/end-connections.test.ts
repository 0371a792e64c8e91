import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { createLog } from '../log/index.js';
import { connectPostgres, endConnections } from './index.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

const connect = (applicationName: string) =>
  connectPostgres({
    connection: store.connectionString,
    applicationName,
    poolMax: 1,
    log: createLog({ level: 'silent' }),
  });

test('the connections of a process end with their transactions, and no others', async () => {
  const lost = connect('tollgate accept 1');
  const other = connect('tollgate accept 2');
  const [ofLost, ofOther] = [await lost.pool.connect(), await other.pool.connect()];
  await ofLost.query('begin; create table half (id integer)');
  await endConnections(store.postgres, 'tollgate accept 1');
  await expect(ofLost.query('commit')).rejects.toThrow();
  const { rows } = await ofOther.query("select to_regclass('half') as made");
  expect(rows).toEqual([{ made: null }]);
  ofLost.release(true);
  ofOther.release();
  await Promise.all([lost.close(), other.close()]);
});
