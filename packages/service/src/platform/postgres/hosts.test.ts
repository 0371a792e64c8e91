import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTo, waitFor } from '../../testing/index.js';
import { hasLoopbackNetwork, ReplicatedPostgres } from '../../testing/replicated-postgres.js';
import type { Postgres } from './connect.js';
import { isUnavailable } from './errors.js';

describe.runIf(hasLoopbackNetwork)('a primary and its standby', () => {
  let servers: ReplicatedPostgres;
  let postgres: Postgres;

  beforeAll(async () => {
    servers = await ReplicatedPostgres.start({ shared_buffers: '16MB' });
    postgres = connectTo(servers.url);
  });
  afterAll(async () => {
    await postgres?.close();
    await servers?.stop();
  });

  const asStandby = <Row>(sql: string) => servers.query<Row>('standby', sql);

  async function write(n: number): Promise<string> {
    const { rows } = await postgres.pool.query(
      'insert into written values ($1) returning host(inet_server_addr()) as server',
      [n],
    );
    return rows[0].server;
  }

  const failure = (work: Promise<unknown>) => work.then(() => undefined, isUnavailable);

  it('is written to through the primary, and through the promoted standby after a fail-over', async () => {
    await postgres.pool.query('create table written (n integer)');
    expect(await write(1)).toBe(servers.address('primary'));
    await waitFor(
      async () => (await asStandby(`select from pg_tables where tablename = 'written'`)).length > 0,
    );
    await waitFor(async () => (await asStandby('select from written')).length === 1);
    await servers.stopPrimary();
    // Connections that broke fail once; then no host can be written to.
    await waitFor(async () => (await failure(write(2))) === true && (await failure(write(2))) === true);
    await servers.promote();
    expect(await write(3)).toBe(servers.address('standby'));
    expect(await asStandby('select n from written order by n')).toEqual([{ n: 1 }, { n: 3 }]);
  });

  it('is left alone when new connections are read-only, until it can be written to again', async () => {
    const setReadOnly = async (mode: 'on' | 'off') => {
      await asStandby(
        `begin read write; alter role current_user set default_transaction_read_only = ${mode}; commit`,
      );
      await asStandby(`select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'`);
    };
    await setReadOnly('on');
    await waitFor(async () => (await failure(write(4))) === true && (await failure(write(4))) === true);
    await setReadOnly('off');
    expect(await write(5)).toBe(servers.address('standby'));
  });
});
