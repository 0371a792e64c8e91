import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { AcknowledgedLoad } from './support/acknowledged-load.js';
import { call } from './support/http.js';
import { type RunningService, startService } from './support/service.js';

/** The parts of a data directory that a backup of PostgreSQL has. */
const RESTORED = ['postgres', 'segments', 'spool', 'archive'];

describe('a service whose stores do not belong together', () => {
  let service: RunningService;
  let load: AcknowledgedLoad;
  beforeAll(async () => {
    service = await startService({ args: ['serve', '--workers', '1'] });
    load = await AcknowledgedLoad.create([service], 2);
  });
  afterAll(() => service?.stop());

  const historyIs = (expected: string) =>
    waitFor(
      async () => {
        const { checks, problems } = (await call(service, 'GET', '/readyz')).body;
        return (problems?.history ?? checks.history) === expected;
      },
      { what: `the history to be ${expected}` },
    );
  const run = async (...args: string[]) => {
    const { exitCode, output } = await service.runCommand(args);
    expect(exitCode, output).toBe(0);
    return output;
  };

  it('accepts events without its history, and a rebuild gives everything back', async () => {
    load.start();
    await load.goOn(5);
    await load.stop();
    await load.expectAllOnce();
    load.start();
    await load.goOn(5);
    await service.crash();
    await load.stop();
    rmSync(join(service.dataDir, 'clickhouse'), { recursive: true });
    await service.start();
    await historyIs('stores_differ');
    load.start(5);
    await load.goOn(5);
    expect(await run('rebuild')).toContain('The history was rebuilt');
    await load.goOn(2);
    await load.stop();
    await load.expectAllOnce();
    await historyIs('ok');
    await run('verify');
  }, 480_000);

  it('does not double usage after a restore of PostgreSQL, and is repaired', async ({ skip }) => {
    await service.terminate();
    if (!existsSync(join(service.dataDir, 'postgres'))) skip('PostgreSQL keeps its files elsewhere');
    const backup = `${service.dataDir}-backup`;
    execFileSync('cp', ['-a', service.dataDir, backup]);
    try {
      await service.start();
      const lost = await AcknowledgedLoad.create([service], 1);
      lost.start();
      await lost.goOn(10);
      await lost.stop();
      await lost.expectAllOnce();
      await service.terminate();
      for (const name of RESTORED) {
        rmSync(join(service.dataDir, name), { recursive: true });
        execFileSync('cp', ['-a', join(backup, name), service.dataDir]);
      }
    } finally {
      rmSync(backup, { recursive: true });
    }
    await service.start();
    await historyIs('stores_differ');
    load.start(5);
    await load.goOn(3);
    await load.stop();
    expect(await run('repair')).toContain('Months that were replaced: 1');
    await historyIs('ok');
    // A repair also replaces the months of batches that wait for ClickHouse. So it only finds nothing when none waits.
    await load.expectAllOnce();
    expect(await run('repair')).toContain(
      'If tollgate verify still finds differences, run tollgate rebuild.',
    );
    await run('verify');
  }, 480_000);
});
