import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isAlive } from '../process-identity.js';
import { holdsWithin } from '../wait.js';
import { PostgresUnavailableError } from './binaries.js';

const FAST_STOP_TIMEOUT_MS = 10_000;
const IMMEDIATE_STOP_TIMEOUT_MS = 5_000;

/**
 * Ends the processes that a killed service left running on a cluster, so that a new postmaster can start on it. Removes
 * a pid file whose pid now belongs to another program, because PostgreSQL would take that for a running server. Returns
 * the pids of the ended processes.
 */
export async function clearLeftover(dataFolder: string): Promise<number[]> {
  const pids = serverProcesses(dataFolder);
  if (pids.length > 0) await endServer(dataFolder, pids);
  if (pidFileIsStale(dataFolder)) await rm(join(dataFolder, 'postmaster.pid'), { force: true });
  return pids;
}

/** Called when no server process was found. If that is not certain, the file stays for PostgreSQL's own check. */
function pidFileIsStale(dataFolder: string): boolean {
  if (process.platform === 'linux') return true;
  const pid = recordedPid(dataFolder);
  return pid !== undefined && isAlive(pid);
}

async function endServer(dataFolder: string, pids: readonly number[]): Promise<void> {
  const gone = () => serverProcesses(dataFolder).length === 0;
  const postmaster = recordedPid(dataFolder);
  if (postmaster !== undefined && pids.includes(postmaster)) {
    signal(postmaster, 'SIGINT');
    if (await holdsWithin(gone, FAST_STOP_TIMEOUT_MS)) return;
  }
  for (const step of ['SIGQUIT', 'SIGKILL'] as const) {
    for (const pid of serverProcesses(dataFolder)) signal(pid, step);
    if (await holdsWithin(gone, IMMEDIATE_STOP_TIMEOUT_MS)) return;
  }
  throw new PostgresUnavailableError(
    `PostgreSQL processes ${serverProcesses(dataFolder).join(', ')} on ${dataFolder} do not end.`,
  );
}

/** Returns the pid in postmaster.pid; another process may have it now. */
function recordedPid(dataFolder: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8'), 10);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the pids of the postmaster and, on Linux, of every other server process of the cluster. */
export function serverProcesses(dataFolder: string): number[] {
  const folder = realpathSync(dataFolder);
  return process.platform === 'linux' ? processesWorkingIn(folder) : postmastersByCommand(folder);
}

/** Every PostgreSQL process runs in its data folder, so neither a reused pid nor a lost pid file matters here. */
function processesWorkingIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return (
          readlinkSync(`/proc/${pid}/cwd`) === folder &&
          basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('postgres')
        );
      } catch {
        return false; // ended meanwhile, or another user's
      }
    })
    .map(Number);
}

function postmastersByCommand(folder: string): number[] {
  const list = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' });
  return list
    .split('\n')
    .filter((line) => line.includes('postgres') && line.includes(` -D ${folder} `))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid !== process.pid && isAlive(pid));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
