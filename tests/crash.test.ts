import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AcknowledgedLoad } from './support/acknowledged-load.js';
import { type RunningService, startService } from './support/service.js';

/** `TOLLGATE_CRASH_ROUNDS=20 npm test -- tests/crash.test.ts` is the long version. */
const ROUNDS = Number(process.env.TOLLGATE_CRASH_ROUNDS ?? 4);
/** Their events are in several shards, and in the same segment when there is one shard. */
const PROJECTS = 3;
/** The numbers of shards, one for each start. */
const SHARDS = ['8', '1', '64', '3'];
/** A round's crash comes after so many acknowledged batches, a different number each time. */
const ACKNOWLEDGED_BATCHES_MIN = 5;
const ACKNOWLEDGED_BATCHES_SPREAD = 30;

describe(`kill -9 under load, ${ROUNDS} times`, () => {
  let service: RunningService;
  let load: AcknowledgedLoad;

  beforeAll(async () => {
    service = await startService({ env: { TOLLGATE_SHARDS: SHARDS.at(-1) as string } });
    load = await AcknowledgedLoad.create([service], PROJECTS);
  });
  afterAll(() => service?.stop());

  it('loses nothing that was acknowledged and rates nothing twice, whatever the number of shards', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      load.start();
      await load.goOn(ACKNOWLEDGED_BATCHES_MIN + ((round * 13) % ACKNOWLEDGED_BATCHES_SPREAD));
      // Every other time PostgreSQL is left behind as an orphan.
      await service.crash(round % 2 === 0 ? 'service and stores' : 'service');
      await load.stop();
      await service.start({ TOLLGATE_SHARDS: SHARDS[round % SHARDS.length] as string });
    }
    await load.expectAllOnce();
    const verified = await service.runCommand(['verify']);
    expect(verified.exitCode, verified.output).toBe(0);
  }, 600_000);
});
