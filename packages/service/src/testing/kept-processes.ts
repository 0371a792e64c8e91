import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { isRunning, type ProcessIdentity, processStartTime } from '../platform/process-identity.js';
import { waitFor } from './wait-for.js';

const FOLDER = 'kept-processes';
const END_MS_MAX = 60_000;

/** Notes a process that all test files use, and that may outlive its worker: it is ended when all tests have ended. */
export function keepProcess(pid: number): void {
  const folder = join(inject('scratchFolder'), FOLDER);
  mkdirSync(folder, { recursive: true });
  const identity: ProcessIdentity = { pid, startTime: processStartTime(pid) };
  writeFileSync(join(folder, `${pid}.json`), JSON.stringify(identity));
}

/** Asks the processes that were noted in this scratch folder to end, and returns those that run. */
export function terminateKeptProcesses(scratch: string): ProcessIdentity[] {
  const folder = join(scratch, FOLDER);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const running = names
    .map((name): ProcessIdentity => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .filter(isRunning);
  for (const { pid } of running) process.kill(pid, 'SIGTERM');
  return running;
}

/** Ends them in order. */
export async function endKeptProcesses(scratch: string): Promise<void> {
  const running = terminateKeptProcesses(scratch);
  await waitFor(() => !running.some(isRunning), {
    timeoutMs: END_MS_MAX,
    what: 'the end of shared processes',
  });
}
