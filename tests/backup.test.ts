import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { AcknowledgedLoad, EVENTS_PER_BATCH } from './support/acknowledged-load.js';
import { call, created } from './support/http.js';
import type { SampleProject } from './support/sample-project.js';
import { type CommandResult, type RunningService, startService } from './support/service.js';

const PROJECTS = 3;
/** The number of batches that may be sent before the test goes on, so that its end need not rate too many. */
const AHEAD_MAX = 150;
/** Pause of each sender after a batch: the load lasts as long as the backup, and leaves it time. */
const PAUSE_MS = 400;
/** Timeout of steps that take seconds. */
const SLOW_MS = 240_000;

let service: RunningService;
let load: AcknowledgedLoad;
let scratch: string;
let folder: string;
beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'tollgate-backups-'));
  folder = join(scratch, 'backup');
  service = await startService();
  load = await AcknowledgedLoad.create([service], PROJECTS);
}, 300_000);
afterEach(async () => {
  await load?.stop();
  await service?.stop();
  rmSync(scratch, { recursive: true });
});

/** Gives the subject of all events a limit and a wallet. */
async function addLimitAndWallet({ projectId, key }: SampleProject): Promise<void> {
  const project = `/v1/projects/${projectId}`;
  const subject = { subject_type: 'customer', subject_id: 'c' };
  const route = await created(service, `${project}/subject-routes`, { key, body: subject });
  const limit = {
    limit_key: 'budget',
    measure: 'amount',
    selector_type: 'all',
    currency: 'USD',
    period: 'lifetime',
    limit_amount: '1000000',
    action: 'notify',
  };
  await created(service, `${project}/subject-routes/${route.id}/limits`, { key, body: limit });
  const wallet = `${project}/accounts/${route.account_id}/wallets/USD`;
  expect((await call(service, 'PUT', wallet, { key, body: { mode: 'postpaid' } })).status).toBe(200);
}

function expectDone({ exitCode, output }: CommandResult): void {
  expect(exitCode, output).toBe(0);
}

function expectRefused({ exitCode, stderr }: CommandResult, sentence: string): void {
  expect(stderr).toBe(`tollgate: ${sentence}\n`);
  expect(exitCode).toBe(1);
}

function emptyDataDir(): void {
  for (const name of readdirSync(service.dataDir)) {
    rmSync(join(service.dataDir, name), { recursive: true });
  }
}

/** Changes one byte of a file of the backup, and back at the second call. */
function damage(path: string): void {
  const bytes = readFileSync(join(folder, path));
  bytes[100] = (bytes[100] ?? 0) ^ 0xff;
  writeFileSync(join(folder, path), bytes);
}

describe('a backup under load', () => {
  it('brings back what was acknowledged before it, once, after all data were lost', async () => {
    for (const sample of load.samples) await addLimitAndWallet(sample);
    load.start(AHEAD_MAX, PAUSE_MS);
    await load.goOn(20);
    const before = load.acknowledged();
    expectDone(await service.runCommand(['backup', folder]));
    expect(load.acknowledgedBatches).toBeGreaterThan(before.length);
    await load.goOn(10);
    await service.crash();
    await load.stop();

    emptyDataDir();
    damage('postgres/cluster/global/pg_control');
    expectRefused(
      await service.runCommand(['restore', folder]),
      `The file postgres/cluster/global/pg_control of the backup in ${folder} is damaged.`,
    );
    expect(readdirSync(service.dataDir)).toEqual([]);
    damage('postgres/cluster/global/pg_control');
    expectDone(await service.runCommand(['restore', folder]));
    // As in a drill: the copy is complete although no service has run on it.
    expectDone(await service.runCommand(['verify']));
    await service.start();

    const restored = await load.processed();
    expect(restored).toBeGreaterThanOrEqual(before.length * EVENTS_PER_BATCH);
    expectDone(await service.runCommand(['verify']));
    await load.sendAgain(before);
    expect(await load.processed()).toBe(restored);
    await load.sendAgain(load.acknowledged());
    await load.expectAllOnce();
    expectDone(await service.runCommand(['verify']));
  }, 600_000);

  it('dies with a killed service, is refused, and leaves a service that cleans up', async () => {
    load.start(AHEAD_MAX, PAUSE_MS);
    await load.goOn(10);
    const command = service.startCommand(['backup', folder]);
    // The cluster is copied after the backup has begun, and takes longest.
    await waitFor(() => existsSync(join(folder, 'postgres', 'cluster')), {
      timeoutMs: SLOW_MS,
      what: 'the copying of the cluster',
    });
    // It cannot end before the crash.
    command.child.kill('SIGSTOP');
    await service.crash();
    await load.stop();
    command.child.kill('SIGCONT');
    const { exitCode, stderr } = await command.result;
    expect(stderr).toMatch(/^tollgate: PostgreSQL cannot be reached, so \S+ is not complete \(.+\)\.\n$/);
    expect(exitCode).toBe(1);

    await service.start();
    await load.expectAllOnce();
    for (const name of ['segments', 'spool']) {
      await waitFor(() => readdirSync(join(service.dataDir, name)).length === 0, {
        timeoutMs: SLOW_MS,
        what: `an empty folder ${name}`,
      });
    }
    expectDone(await service.runCommand(['verify']));
    await service.terminate();
    emptyDataDir();
    expectRefused(
      await service.runCommand(['restore', folder]),
      `There is no complete backup in ${folder}: it has no manifest, which is written last.`,
    );
  }, 600_000);
});

it('a service does not start on an interrupted restore, which can be repeated', async () => {
  await service.terminate();
  expectDone(await service.runCommand(['backup', folder]));
  emptyDataDir();
  // A restore makes this file first, and deletes it last.
  writeFileSync(join(service.dataDir, 'restore-unfinished'), '');
  expectRefused(
    await service.runCommand(['serve']),
    `A restore to ${service.dataDir} was interrupted: run tollgate restore again, or delete the directory.`,
  );
  expectDone(await service.runCommand(['restore', folder]));
  await service.start();
  expect((await call(service, 'GET', '/readyz')).status).toBe(200);
}, 300_000);
