import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../packages/service/src/testing/index.js';
import { call } from './support/http.js';
import { processSampleEvents } from './support/sample-project.js';
import { newService, type RunningService } from './support/service.js';

const EVENTS = 20;

describe('stores that do not belong together, without an archive', () => {
  let postgres: TestPostgres;
  let clickhouse: TestClickHouse;
  let service: RunningService;

  beforeAll(async () => {
    [postgres, clickhouse] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
    service = await newService({
      args: ['serve'],
      env: { TOLLGATE_DATABASE_URL: postgres.connectionString, TOLLGATE_CLICKHOUSE_URL: clickhouse.url },
      startsEmpty: true,
    });
  });
  afterAll(async () => {
    await service?.stop();
    await Promise.all([clickhouse?.drop(), postgres?.drop()]);
  });

  const historyIs = (expected: string) =>
    waitFor(
      async () => {
        const { checks, problems } = (await call(service, 'GET', '/readyz')).body;
        return (problems?.history ?? checks.history) === expected;
      },
      { what: `the history to be ${expected}` },
    );

  it('say what the operator can do, and go on after a repair that gives up the missing months', async () => {
    await service.start();
    await processSampleEvents(service, EVENTS);
    await clickhouse.clickhouse.command(
      'INSERT INTO recorded_groups SELECT history_id, max(group_no) + 5 FROM recorded_groups GROUP BY 1',
    );
    await clickhouse.clickhouse.command('TRUNCATE TABLE usage_events');
    await historyIs('stores_differ');
    const lines = service.output.split('\n').filter((line) => line.includes('PostgreSQL is older'));
    expect(lines[0]).toContain('there is no archive to repair from');
    expect(lines[0]).toContain('tollgate repair --incomplete');
    for (const command of ['repair', 'rebuild']) {
      const { exitCode, stderr } = await service.runCommand([command, '--incomplete']);
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(/^tollgate: There is no archive.*--incomplete/),
      ]);
    }
    expect(await service.terminate()).toBe(0);

    const objects = join(service.dataDir, 'objects');
    mkdirSync(objects);
    const env = { TOLLGATE_OBJECT_STORE_URL: `file://${objects}` };
    await service.start(env);
    await historyIs('stores_differ');
    const refused = await service.runCommand(['repair'], env);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^tollgate: The archive lacks ${EVENTS} events: .* add --incomplete`)),
    ]);
    const repaired = await service.runCommand(['repair', '--incomplete'], env);
    expect([repaired.exitCode, repaired.stdout]).toEqual([
      0,
      'Months that were replaced: 1, with 0 events. Run tollgate verify.\n',
    ]);
    await historyIs('ok');
    await processSampleEvents(service, EVENTS);
    const verified = await service.runCommand(['verify'], env);
    expect(verified.exitCode).toBe(1);
    expect(verified.stdout).toContain(`usage_events: processed_count should be ${EVENTS}, is 0`);
  }, 480_000);
});
