import { randomBytes } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { makeFolder } from './make-folder.js';
import { isRunning, ownIdentity, type ProcessIdentity } from './process-identity.js';

/** Another service uses the data directory; the message is one sentence for the operator. */
export class InstanceLockedError extends Error {
  override readonly name = 'InstanceLockedError';
}

const LOCK_FILE_NAME = 'instance.lock';
const SOCKET_NAME = 'instance.sock';
/** Each try ends with the lock, with a running holder, or with the removal of one dead holder's file. */
const TRIES_MAX = 10;

/** The right to use a data directory, held by one running service. */
export interface InstanceLock {
  release(): Promise<void>;
}

/**
 * Locks the data directory, which is created if needed. A lock whose holder was killed is taken over. Throws
 * InstanceLockedError, naming the holder's pid, while another service runs on it.
 */
export async function acquireInstanceLock(dataDir: string): Promise<InstanceLock> {
  makeFolder(dataDir);
  const folder = realpathSync(dataDir);
  const path = join(folder, LOCK_FILE_NAME);
  const text = `${JSON.stringify(ownIdentity())}\n`;
  const own = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(own, text, { mode: 0o600, flush: true });
  try {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (tryLink(own, path)) return heldLock(path, text, await Beacon.light(folder));
      await removeIfStale(folder, path);
    }
  } finally {
    rmSync(own, { force: true });
  }
  throw new InstanceLockedError(`Several services compete for ${folder}: start one at a time.`);
}

function heldLock(path: string, text: string, beacon: Beacon): InstanceLock {
  return {
    release: async () => {
      await beacon.quench();
      // A directory that was deleted and created again may belong to another service by now.
      if (readIfPresent(path) === text) rmSync(path);
    },
  };
}

/** Throws while the holder runs. */
async function removeIfStale(folder: string, path: string): Promise<void> {
  const text = readIfPresent(path);
  if (text === undefined) return;
  const holder = parseIdentity(text);
  const isHeld = (holder !== undefined && isRunning(holder)) || (await Beacon.shines(folder));
  if (isHeld) {
    throw new InstanceLockedError(
      `Another Tollgate (pid ${holder?.pid ?? 'unknown'}) uses ${folder}: stop it, or set TOLLGATE_DATA_DIR to another folder.`,
    );
  }
  // Moved away rather than deleted, so that the lock of a service that was faster is noticed, and put back.
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readIfPresent(aside) !== text) tryLink(aside, path);
  rmSync(aside, { force: true });
}

/**
 * A socket in the data directory that accepts connections while its holder lives. Containers that share a directory do
 * not see each other's pids, so they cannot see whether a lock's holder runs; they do see the socket. Linux only, where
 * a descriptor can name the folder: the path of a socket is limited to 107 bytes.
 */
class Beacon {
  readonly #server: Server | undefined;
  readonly #folderFd: number | undefined;

  private constructor(server: Server | undefined, folderFd: number | undefined) {
    this.#server = server;
    this.#folderFd = folderFd;
  }

  static async light(folder: string): Promise<Beacon> {
    if (process.platform !== 'linux') return new Beacon(undefined, undefined);
    rmSync(join(folder, SOCKET_NAME), { force: true });
    const folderFd = openSync(folder, 'r');
    const server = createServer((socket) => socket.destroy());
    const listens = await new Promise<boolean>((resolve) => {
      // Some shared file systems support no sockets: the lock file alone must suffice there.
      server.once('error', () => resolve(false));
      server.listen(socketPath(folderFd), () => resolve(true));
    });
    server.unref();
    return new Beacon(listens ? server : undefined, folderFd);
  }

  static async shines(folder: string): Promise<boolean> {
    if (process.platform !== 'linux') return false;
    const folderFd = openSync(folder, 'r');
    try {
      return await new Promise<boolean>((resolve) => {
        const socket = connect(socketPath(folderFd));
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
        socket.once('connect', () => socket.destroy());
      });
    } finally {
      closeSync(folderFd);
    }
  }

  async quench(): Promise<void> {
    const server = this.#server,
      folderFd = this.#folderFd;
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
    if (folderFd !== undefined) closeSync(folderFd);
  }
}

function socketPath(folderFd: number): string {
  return `/proc/self/fd/${folderFd}/${SOCKET_NAME}`;
}

/** Creates the lock in one step with its content, unless there is one. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns undefined for a lock that a power failure has damaged. */
function parseIdentity(text: string): ProcessIdentity | undefined {
  try {
    const { pid, startTime } = JSON.parse(text) as Partial<ProcessIdentity>;
    return Number.isSafeInteger(pid) && Number(pid) > 0 ? { pid: Number(pid), startTime } : undefined;
  } catch {
    return undefined;
  }
}
