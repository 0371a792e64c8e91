import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import {
  isRunning,
  type ProcessIdentity,
  processStartTime,
} from '../../packages/service/src/platform/process-identity.js';

/** Place of the nice value among the fields after the command. */
const NICE_FIELD = 16;

/** All processes below `pid`, parents before children; on Linux without any other program's help. */
export function descendantsOf(pid: number): ProcessIdentity[] {
  const childrenOf = new Map<number, number[]>();
  for (const [child, parent] of process.platform === 'linux' ? pairsFromProc() : pairsFromPs()) {
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), child]);
  }
  const found = [...(childrenOf.get(pid) ?? [])];
  for (const child of found) found.push(...(childrenOf.get(child) ?? []));
  return found.map((child) => ({ pid: child, startTime: processStartTime(child) }));
}

/** Returns the command line of a process; empty when it has ended. */
export function commandOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

/** Returns the nice value of each thread of a process. Linux only. */
export function nicenessOfThreads(pid: number): Map<number, number> {
  const threads = readdirSync(`/proc/${pid}/task`).flatMap((id): [number, number][] => {
    try {
      return [[Number(id), Number(statFields(`${pid}/task/${id}`)[NICE_FIELD])]];
    } catch {
      // It ended meanwhile.
      return [];
    }
  });
  return new Map(threads);
}

/** Sends SIGKILL to those that still run; never to another process that was given one of their pids since. */
export function killNow(processes: Iterable<ProcessIdentity>): void {
  for (const identity of processes) if (isRunning(identity)) signal(identity.pid);
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function* pairsFromProc(): Generator<[number, number]> {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      yield [Number(name), Number(statFields(Number(name))[1])];
    } catch {
      // It ended meanwhile.
    }
  }
}

/** State, parent and so on: what follows the command, which may itself hold spaces and parentheses. */
function statFields(pid: number | string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function* pairsFromPs(): Generator<[number, number]> {
  for (const line of execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n')) {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    if (pid !== undefined && parent !== undefined) yield [pid, parent];
  }
}
