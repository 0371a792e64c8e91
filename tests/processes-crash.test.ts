import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
} from '../packages/service/src/testing/index.js';
import { AcknowledgedLoad } from './support/acknowledged-load.js';
import { type RunningService, startService } from './support/service.js';

/** `TOLLGATE_CRASH_ROUNDS=200 npm test -- tests/processes-crash.test.ts` is the long version. */
const ROUNDS = Number(process.env.TOLLGATE_CRASH_ROUNDS ?? 6);
/** Two of each role, killed in turns. */
const ROLES = ['worker', 'projector', 'api', 'worker', 'projector', 'api'];
const PROJECTS = 5;
/** The numbers of shards, one after the other. */
const SHARDS = ['8', '2', '64', '3', '1'];
const BATCHES_BEFORE_KILL = 5;
const BATCHES_SPREAD = 11;
/** Enough to be in progress at each kill, and so few that the workers that are left keep up. */
const BATCHES_AHEAD = 8;
const ROUND_MS_MAX = 60_000;

describe(`kill -9 of any process while shards change hands, ${ROUNDS} times`, () => {
  let postgres: TestPostgres;
  let clickhouse: TestClickHouse;
  const processes: RunningService[] = [];
  let load: AcknowledgedLoad;

  beforeAll(async () => {
    [postgres, clickhouse] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
    const env = {
      TOLLGATE_DATABASE_URL: postgres.connectionString,
      TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
    };
    for (const role of ROLES) {
      processes.push(await startService({ args: ['serve', '--roles', role], env, startsEmpty: true }));
    }
    load = await AcknowledgedLoad.create(
      processes.filter((_, place) => ROLES[place] === 'api'),
      PROJECTS,
    );
  });
  afterAll(async () => {
    await load?.stop();
    await Promise.all(processes.map((each) => each.stop()));
    await Promise.all([clickhouse?.drop(), postgres?.drop()]);
  });

  /** Kills a process and starts it again, while the number of shards changes: both move shards to other owners. */
  async function killOne(round: number): Promise<void> {
    const victim = processes[round % processes.length] as RunningService;
    const commander = processes[(round + 1) % processes.length] as RunningService;
    const change = commander.runCommand(['shards', SHARDS[round % SHARDS.length] as string]);
    await load.goOn(BATCHES_BEFORE_KILL + ((round * 7) % BATCHES_SPREAD));
    await victim.crash('service');
    await load.goOn(1);
    await victim.start();
    const { exitCode, output } = await change;
    expect(exitCode, output).toBe(0);
  }

  it(
    'counts every acknowledged event once',
    async () => {
      load.start(BATCHES_AHEAD);
      for (let round = 0; round < ROUNDS; round += 1) await killOne(round);
      await load.stop();
      await load.expectAllOnce();
      const verified = await processes[0]?.runCommand(['verify']);
      expect(verified?.exitCode, verified?.output).toBe(0);
    },
    ROUNDS * ROUND_MS_MAX,
  );
});
