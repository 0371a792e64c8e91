import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitFor } from '../testing/index.js';
import { acquireInstanceLock } from './instance-lock.js';
import { isRunning, ownIdentity, processStartTime } from './process-identity.js';

let dataDir: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tollgate-lock-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  child = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

const lockFile = () => join(dataDir, 'instance.lock');
const writeLock = (holder: unknown) => writeFileSync(lockFile(), JSON.stringify(holder));

function sleeper(): number {
  child = spawn('sleep', ['600'], { stdio: 'ignore' });
  return child.pid ?? expect.unreachable();
}

test('a directory is made, held once, and free again after the release', async () => {
  const folder = join(dataDir, 'new', 'folder');
  const lock = await acquireInstanceLock(folder);
  await expect(acquireInstanceLock(folder)).rejects.toThrow(
    `Another Tollgate (pid ${process.pid}) uses ${folder}: stop it, or set TOLLGATE_DATA_DIR to another folder.`,
  );
  await lock.release();
  await (await acquireInstanceLock(folder)).release();
  expect(existsSync(join(folder, 'instance.lock'))).toBe(false);
  expect(existsSync(join(folder, 'instance.sock'))).toBe(false);
});

test('a running holder is respected, a killed one is not', async () => {
  const pid = sleeper();
  writeLock({ pid, startTime: processStartTime(pid) });
  await expect(acquireInstanceLock(dataDir)).rejects.toThrow(`pid ${pid}`);
  child?.kill('SIGKILL');
  await waitFor(() => !isRunning({ pid, startTime: undefined }));
  await (await acquireInstanceLock(dataDir)).release();
});

test('a recycled pid is not taken for the holder', async () => {
  writeLock({ pid: sleeper(), startTime: 'of a process before it' });
  await (await acquireInstanceLock(dataDir)).release();
});

test.each(['', '{', 'null', '{"pid":"1"}', '{"pid":-1}'])(
  'the remains of a lock (%j) are taken over',
  async (text) => {
    writeFileSync(lockFile(), text);
    const lock = await acquireInstanceLock(dataDir);
    expect(JSON.parse(readFileSync(lockFile(), 'utf8'))).toEqual(ownIdentity());
    await lock.release();
  },
);

test.runIf(process.platform === 'linux')(
  'a holder whose pid cannot be seen is known by its socket',
  async () => {
    const lock = await acquireInstanceLock(dataDir);
    // A service in another container sees the lock like this: that pid is absent, or belongs to another process.
    writeLock({ pid: 4_194_305, startTime: 'elsewhere' });
    await expect(acquireInstanceLock(dataDir)).rejects.toThrow('pid 4194305');
    await lock.release();
    expect(existsSync(lockFile()), 'a lock of another holder stays').toBe(true);
    await (await acquireInstanceLock(dataDir)).release();
  },
);

test('of many that start at once on a stale lock, one gets it', async () => {
  writeLock({ pid: sleeper(), startTime: 'stale' });
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => acquireInstanceLock(dataDir)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a long path does not matter', async () => {
  const folder = join(dataDir, 'x'.repeat(120));
  mkdirSync(folder);
  const lock = await acquireInstanceLock(folder);
  await expect(acquireInstanceLock(folder)).rejects.toThrow('Another Tollgate');
  await lock.release();
});
