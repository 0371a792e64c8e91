import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

/** Identifies a process; a later process with the same pid differs. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque text that differs between two processes with one pid; undefined where the system does not show it. */
  readonly startTime: string | undefined;
}

/** Whether a process of any user has this pid now. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Returns when the process was started, as the system formats it; undefined if it is gone or the system does not show
 * it.
 */
export function processStartTime(pid: number): string | undefined {
  return process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
}

/** Returns the identity of the calling process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTime: processStartTime(process.pid) };
}

/** Whether exactly this process still runs. Without start times, any process with the same pid counts as it. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (!isAlive(identity.pid)) return false;
  const startTime = processStartTime(identity.pid);
  if (startTime === ZOMBIE) return false;
  return startTime === undefined || identity.startTime === undefined || startTime === identity.startTime;
}

/** The start time of a process that has ended and was not yet waited for. */
const ZOMBIE = 'zombie';

/** Field 22 of /proc/<pid>/stat counts ticks since boot, so the id of the boot is added. */
function startTimeFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the command in parentheses, which may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return fields[0] === 'Z' ? ZOMBIE : `${bootId}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

function startTimeFromPs(pid: number): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined;
  }
}

/**
 * Returns a name by which other processes of this machine can find out that a running process has ended; undefined if
 * the system does not show the necessary facts. It contains the namespace, because a process id means nothing outside
 * of it.
 */
export function processName(pid: number): string | undefined {
  const namespace = pidNamespace();
  const startTime = processStartTime(pid);
  if (namespace === undefined || startTime === undefined) return undefined;
  return [namespace, pid, startTime].join(' ');
}

/** Returns whether the process with this name ran on this machine and has certainly ended. */
export function hasEnded(name: string): boolean {
  const [namespace, pid, startTime] = name.split(' ');
  const own = processName(process.pid)?.split(' ');
  if (own === undefined || namespace !== own[0] || bootOf(startTime) !== bootOf(own[2])) return false;
  return !isRunning({ pid: Number(pid), startTime });
}

function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** Returns the boot of a process. A process of another boot may belong to another machine. */
function bootOf(startTime: string | undefined): string | undefined {
  return startTime?.split('/')[0];
}
