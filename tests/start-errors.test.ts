import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
} from '../packages/service/src/testing/index.js';
import { startReceiver } from '../packages/service/src/testing/receiver.js';
import { newService, type RunningService } from './support/service.js';

const NOBODY_LISTENS = '127.0.0.1:1';
const SECRET = 'hunter2-secret';

describe('a start with a store that cannot be used', () => {
  let postgres: TestPostgres;
  let clickhouse: TestClickHouse;
  let service: RunningService;

  beforeAll(async () => {
    postgres = await createTestPostgres();
    clickhouse = await createTestClickHouse();
    await postgres.beside(`
      create role start_nologin nologin password '${SECRET}';
      create role start_stranger login password '${SECRET}';
      create schema old;
      create function old.current_setting(name text) returns text language sql as
        $$ select case name when 'server_version' then '14.12' else '140012' end $$;
      do $$ begin execute format('revoke connect on database %I from public', current_database()); end $$`);
    service = await newService({ args: ['serve'], startsEmpty: true });
  });
  afterAll(async () => {
    await service.stop();
    await postgres.beside(`drop owned by start_stranger; drop role start_nologin, start_stranger`);
    await clickhouse.drop();
    await postgres.drop();
  });

  /** Changes the URL of the database that works. */
  function databaseUrl(change: (url: URL) => void): string {
    const url = new URL(postgres.connectionString);
    change(url);
    return url.toString();
  }

  function withUser(user: string): string {
    return databaseUrl((url) => {
      [url.username, url.password] = [user, SECRET];
    });
  }

  it.each([
    [
      'a cluster without a server',
      { TOLLGATE_CLICKHOUSE_CLUSTER: 'c', TOLLGATE_CLICKHOUSE_URL: '' },
      'TOLLGATE_CLICKHOUSE_CLUSTER needs TOLLGATE_CLICKHOUSE_URL, because the embedded ClickHouse has no replicas. Set both, or neither.',
    ],
    [
      'several servers without a cluster',
      { TOLLGATE_CLICKHOUSE_URL: 'http://one:8123,two:8123/tollgate' },
      'TOLLGATE_CLICKHOUSE_URL names several hosts: set TOLLGATE_CLICKHOUSE_CLUSTER to the name of the cluster whose replicas they are.',
    ],
    [
      'a cluster that ClickHouse does not know',
      { TOLLGATE_CLICKHOUSE_CLUSTER: 'nowhere' },
      'TOLLGATE_CLICKHOUSE_CLUSTER is nowhere, but system.clusters of the server has no cluster of that name.',
    ],
    [
      'a cluster of several shards',
      { TOLLGATE_CLICKHOUSE_CLUSTER: 'shards' },
      'The cluster shards of ClickHouse has 2 shards, but Tollgate needs one shard with replicas: use cells to share out tenants.',
    ],
    [
      'a cluster for tables without replicas',
      { TOLLGATE_CLICKHOUSE_CLUSTER: 'replicas' },
      'The tables in ClickHouse are not replicated, and cannot be made so: with TOLLGATE_CLICKHOUSE_CLUSTER, use an empty database, and fill it with tollgate rebuild.',
    ],
  ])('of ClickHouse ends with one sentence: %s', async (_case, env, sentence) => {
    const stores = {
      TOLLGATE_DATABASE_URL: postgres.connectionString,
      TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
    };
    const { exitCode, stderr } = await service.runCommand(['serve'], { ...stores, ...env });
    expect([exitCode, stderr]).toEqual([1, `tollgate: ${sentence}\n`]);
  });

  /** Expects that `serve` ends with one sentence about a variable, and returns its end. */
  async function problemWith(variable: string, env: Readonly<Record<string, string>>): Promise<string> {
    const stores = {
      TOLLGATE_DATABASE_URL: postgres.connectionString,
      TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
    };
    const { exitCode, stdout, stderr } = await service.runCommand(['serve'], { ...stores, ...env });
    const { host, pathname } = new URL(env[variable] ?? '');
    const start = `tollgate: ${variable} cannot be used (${host}${pathname}): `;
    expect([exitCode, stdout, stderr.slice(0, start.length)]).toEqual([1, '', start]);
    expect(stderr).not.toContain(SECRET);
    return stderr.slice(start.length);
  }

  const problemWithDatabase = (url: string) =>
    problemWith('TOLLGATE_DATABASE_URL', { TOLLGATE_DATABASE_URL: url });
  const problemWithDirectory = (url: string) =>
    problemWith('TOLLGATE_DIRECTORY_URL', { TOLLGATE_DIRECTORY_URL: url, TOLLGATE_CELL: 'eu-1' });
  const problemWithClickHouse = (url: string) =>
    problemWith('TOLLGATE_CLICKHOUSE_URL', { TOLLGATE_CLICKHOUSE_URL: url });

  type Unusable = [reason: string, url: () => string, problem: string | RegExp];
  const UNUSABLE: Unusable[] = [
    [
      'a wrong password',
      () =>
        databaseUrl((url) => {
          url.password = SECRET;
        }),
      'password authentication failed for user "tollgate".\n',
    ],
    [
      'a port where nobody listens',
      () => `postgresql://tollgate:${SECRET}@${NOBODY_LISTENS}/usage`,
      'the server refuses connections.\n',
    ],
    [
      'a missing database',
      () =>
        databaseUrl((url) => {
          url.pathname = '/absent';
        }),
      'database "absent" does not exist.\n',
    ],
    [
      'a missing schema',
      () => databaseUrl((url) => url.searchParams.set('options', '-c search_path=absent')),
      'the search_path (absent) names no schema that exists and that the role "tollgate" may use.\n',
    ],
  ];
  const UNUSABLE_FOR_OTHER_REASONS: Unusable[] = [
    [
      'an unknown host',
      () => `postgresql://tollgate:${SECRET}@nowhere.invalid/usage`,
      /^(the host is not known|the name of the host cannot be resolved now)\.\n$/,
    ],
    [
      'a role that may not log in',
      () => withUser('start_nologin'),
      'role "start_nologin" is not permitted to log in.\n',
    ],
    [
      'a role that may not connect to the database',
      () => withUser('start_stranger'),
      /^permission denied for database "test_\w+"\.\n$/,
    ],
    [
      'an old server',
      // The setting of the version is shadowed, because every server of the tests is new enough.
      () => databaseUrl((url) => url.searchParams.set('options', '-c search_path=old,pg_catalog')),
      'the server has version 14.12, and Tollgate needs version 15 or later.\n',
    ],
  ];
  const asExpected = (problem: string | RegExp) =>
    typeof problem === 'string' ? problem : expect.stringMatching(problem);

  it.each([...UNUSABLE, ...UNUSABLE_FOR_OTHER_REASONS])(
    'of PostgreSQL, because of %s, ends with one sentence',
    async (_, url, problem) => {
      expect(await problemWithDatabase(url())).toEqual(asExpected(problem));
    },
  );

  // A process with a directory starts its other parts first, so these starts are slow; the checks are the same.
  it.each(UNUSABLE)('of the directory, because of %s, ends with one sentence', async (_, url, problem) => {
    expect(await problemWithDirectory(url())).toEqual(asExpected(problem));
  });

  it('of the directory ends with one sentence for a command too', async () => {
    const url = `postgresql://tollgate:${SECRET}@${NOBODY_LISTENS}/directory`;
    const { exitCode, stdout, stderr } = await service.runCommand(['cell', 'list'], {
      TOLLGATE_DIRECTORY_URL: url,
    });
    expect([exitCode, stdout, stderr]).toEqual([
      1,
      '',
      `tollgate: TOLLGATE_DIRECTORY_URL cannot be used (${NOBODY_LISTENS}/directory): the server refuses connections.\n`,
    ]);
  });

  it('of PostgreSQL, because no host of several responds, ends with one sentence', async () => {
    const { exitCode, stderr } = await service.runCommand(['serve'], {
      TOLLGATE_DATABASE_URL: `postgresql://tollgate:${SECRET}@127.0.0.1:1,127.0.0.1:2/usage`,
      TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
    });
    expect([exitCode, stderr]).toEqual([
      1,
      'tollgate: TOLLGATE_DATABASE_URL cannot be used (127.0.0.1:1,127.0.0.1:2/usage): the server refuses connections.\n',
    ]);
  });

  it('of ClickHouse, because nobody listens or the database is missing, ends with one sentence', async () => {
    expect(await problemWithClickHouse(`http://default:${SECRET}@${NOBODY_LISTENS}/usage`)).toBe(
      'the server refuses connections.\n',
    );
    const { host } = new URL(clickhouse.url);
    expect(await problemWithClickHouse(`http://${host}/absent`)).toBe('the database does not exist.\n');
  });

  it('of ClickHouse, because the password is wrong, ends with one sentence', async () => {
    const refusing = await startReceiver((_message, response) => {
      response.writeHead(403, { 'X-ClickHouse-Exception-Code': '516' });
      response.end(
        'Code: 516. DB::Exception: default: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED) (version 24.8.1.1)\n',
      );
      return undefined;
    });
    const { host } = new URL(refusing.url);
    expect(await problemWithClickHouse(`http://default:${SECRET}@${host}/usage`)).toBe(
      'the user or the password is wrong.\n',
    );
    await refusing.close();
  });
});
