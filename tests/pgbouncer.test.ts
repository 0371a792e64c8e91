import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isUnavailable } from '../packages/service/src/platform/postgres/index.js';
import {
  connectTo,
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../packages/service/src/testing/index.js';
import {
  hasLoopbackNetwork,
  type PostgresHost,
  ReplicatedPostgres,
} from '../packages/service/src/testing/replicated-postgres.js';
import { hasPgBouncer, PgBouncer, urlOfPoolers } from './support/pgbouncer.js';
import { processSampleEvents } from './support/sample-project.js';
import { newService, type RunningService } from './support/service.js';

const EVENTS = 50;
const title = hasPgBouncer ? 'PgBouncer' : 'PgBouncer, which is not installed here';

describe.runIf(hasPgBouncer)(title, () => {
  let postgres: TestPostgres;
  let clickhouse: TestClickHouse;
  let service: RunningService;

  beforeAll(async () => {
    postgres = await createTestPostgres();
    clickhouse = await createTestClickHouse();
    const env = { TOLLGATE_CLICKHOUSE_URL: clickhouse.url };
    service = await newService({ args: ['serve'], env, startsEmpty: true });
  });
  afterAll(async () => {
    await service.stop();
    await clickhouse.drop();
    await postgres.drop();
  });

  async function withBouncer(
    settings: Readonly<Record<string, string | number>>,
    work: (url: string) => Promise<void>,
  ): Promise<void> {
    const bouncer = await PgBouncer.start(postgres, settings);
    try {
      await work(bouncer.url);
    } finally {
      await bouncer.stop();
    }
  }

  it('in session mode carries a service that accepts, rates and projects', () =>
    withBouncer({ pool_mode: 'session', default_pool_size: 60 }, async (url) => {
      await service.start({ TOLLGATE_DATABASE_URL: url });
      await processSampleEvents(service, EVENTS);
      expect(await service.terminate()).toBe(0);
    }));

  it.each([
    ['transaction mode', { pool_mode: 'transaction' }],
    ['transaction mode with one session', { pool_mode: 'transaction', default_pool_size: 1 }],
    ['transaction mode in turns', { pool_mode: 'transaction', server_round_robin: 1, min_pool_size: 4 }],
  ])('in %s is refused at the start', (_mode, settings) =>
    withBouncer(settings, async (url) => {
      const { exitCode, stdout, stderr } = await service.runCommand(['serve'], {
        TOLLGATE_DATABASE_URL: url,
      });
      const { host, pathname } = new URL(url);
      expect([exitCode, stdout, stderr]).toEqual([
        1,
        '',
        `tollgate: TOLLGATE_DATABASE_URL cannot be used (${host}${pathname}): a connection pooler in transaction mode is in between, and Tollgate needs session mode, because it keeps locks, settings and prepared statements in its sessions.\n`,
      ]);
    }),
  );

  it('in transaction mode is refused at the start while other clients use it', () =>
    withBouncer({ pool_mode: 'transaction', default_pool_size: 4 }, async (url) => {
      const others = connectTo(url, 'others');
      let isBusy = true;
      const busy = Array.from({ length: 6 }, async () => {
        while (isBusy) await others.pool.query('select count(*) from generate_series(1, 1000)');
      });
      // One after the other: a start looks whether its port is free, and two looks at once exclude each other.
      for (let start = 0; start < 3; start += 1) {
        const { exitCode, stderr } = await service.runCommand(['serve'], { TOLLGATE_DATABASE_URL: url });
        expect([exitCode, stderr]).toEqual([1, expect.stringContaining('needs session mode')]);
      }
      isBusy = false;
      await Promise.all(busy);
      await others.close();
    }));

  it.runIf(hasLoopbackNetwork)(
    'in front of a primary and of its standby is passed over after a fail-over',
    async () => {
      const servers = await ReplicatedPostgres.start({ shared_buffers: '16MB' });
      const start = (host: PostgresHost) =>
        PgBouncer.start({ connectionString: servers.socketUrlOf(host) }, { pool_mode: 'session' });
      const poolers = await Promise.all([start('primary'), start('standby')]);
      const { pool, close } = connectTo(urlOfPoolers(poolers));
      try {
        await pool.query('create table written (n integer)');
        servers.crashPrimary();
        const isRefused = () => pool.query('insert into written values (1)').then(() => false, isUnavailable);
        await waitFor(isRefused);
        await servers.promote();
        const isWritten = () =>
          pool.query('insert into written values (2)').then(
            () => true,
            () => false,
          );
        await waitFor(isWritten, { timeoutMs: 120_000 });
      } finally {
        await close();
        for (const pooler of poolers) await pooler.stop();
        await servers.stop();
      }
    },
  );

  it('in statement mode is refused too', () =>
    withBouncer({ pool_mode: 'statement' }, async (url) => {
      const { exitCode, stderr } = await service.runCommand(['serve'], { TOLLGATE_DATABASE_URL: url });
      expect([exitCode, stderr.split('\n')]).toEqual([
        1,
        [expect.stringMatching(/cannot be used \(.*\): .* statement pooling mode\.$/), ''],
      ]);
    }));
});
