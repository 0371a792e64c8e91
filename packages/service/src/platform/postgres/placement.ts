import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { chmod, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canEnter, ownerOf, type SystemAccount, unprivilegedAccount } from './account.js';
import { PostgresUnavailableError } from './binaries.js';

/** The folders of an embedded cluster. */
export interface ClusterPlacement {
  /** The account that PostgreSQL runs under; undefined for the calling user. */
  readonly account: SystemAccount | undefined;
  /** Contains all other folders, except perhaps that of the socket. */
  readonly baseFolder: string;
  /** PostgreSQL's own data directory. */
  readonly clusterFolder: string;
  readonly socketFolder: string;
  readonly passwordFile: string;
  readonly logFile: string;
  /** Whether the account could not reach the data directory, so that all folders are elsewhere. */
  readonly isOutsideDataDir: boolean;
}

/**
 * The folder for clusters that PostgreSQL's account could not reach in the data directory. Not under /tmp, because it
 * contains the data; nor the folder that the unit of systemd gives to its own user.
 */
const SYSTEM_FOLDER = '/var/lib/tollgate-clusters';
const CLUSTER_FOLDER_NAME = 'cluster';
const PASSWORD_FILE_NAME = 'password';
/** A file in the data directory that names the folder elsewhere that contains its cluster. */
const POINTER_FILE_NAME = 'postgres-is-elsewhere';
/** A file in that folder that names the data directory to which it belongs. */
const OWNER_FILE_NAME = 'belongs-to';
/** sun_path has 104 bytes on macOS and 108 on Linux, including the socket's own name of 14. */
const SOCKET_FOLDER_BYTES_MAX = 85;
/** PostgreSQL truncates longer paths; the names of its own files fit into the rest of its 1,024 bytes. */
const CLUSTER_FOLDER_BYTES_MAX = 800;

/** Decides where the folders are, and creates them, including the data directory. */
export async function placeCluster(dataDir: string): Promise<ClusterPlacement> {
  mkdirSync(dataDir, { recursive: true });
  const dataFolder = realpathSync(dataDir);
  const isRoot = process.getuid?.() === 0;
  const baseFolder = await chooseBaseFolder(dataFolder, isRoot);
  const clusterFolder = join(baseFolder, CLUSTER_FOLDER_NAME);
  if (Buffer.byteLength(clusterFolder) > CLUSTER_FOLDER_BYTES_MAX) {
    throw new PostgresUnavailableError(
      `The path ${clusterFolder} is too long for PostgreSQL: set TOLLGATE_DATA_DIR to a shorter one.`,
    );
  }
  const account = isRoot ? accountFor(clusterFolder) : undefined;
  await mkdir(baseFolder, { recursive: true });
  // The account may enter this folder, and read only what it owns.
  await chmod(baseFolder, isRoot ? 0o711 : 0o700);
  return {
    account,
    baseFolder,
    clusterFolder,
    socketFolder: await prepareSocketFolder(baseFolder, account),
    passwordFile: join(baseFolder, PASSWORD_FILE_NAME),
    logFile: join(baseFolder, 'postgres.log'),
    isOutsideDataDir: !baseFolder.startsWith(dataFolder),
  };
}

/** An existing cluster keeps its owner, so that a service that was run by a user can later be run by root. */
function accountFor(clusterFolder: string): SystemAccount {
  return (existsSync(clusterFolder) ? ownerOf(clusterFolder) : undefined) ?? unprivilegedAccount();
}

async function chooseBaseFolder(dataFolder: string, isRoot: boolean): Promise<string> {
  const pointer = join(dataFolder, POINTER_FILE_NAME);
  if (existsSync(pointer)) return await claimElsewhere(readFileSync(pointer, 'utf8').trim(), dataFolder);
  const inside = join(dataFolder, 'postgres');
  const hasCluster = existsSync(join(inside, CLUSTER_FOLDER_NAME));
  if (!isRoot || hasCluster || canEnter(unprivilegedAccount(), dataFolder)) return inside;
  // The random part keeps a new data directory from using the cluster of a deleted one with the same path.
  const hash = createHash('sha256').update(dataFolder).digest('hex').slice(0, 12);
  const elsewhere = join(SYSTEM_FOLDER, `${hash}-${randomBytes(3).toString('hex')}`);
  await mkdir(elsewhere, { recursive: true });
  await chmod(SYSTEM_FOLDER, 0o711);
  await writeFile(join(elsewhere, OWNER_FILE_NAME), `${dataFolder}\n`);
  await replaceFile(pointer, `${elsewhere}\n`);
  return elsewhere;
}

/** A copied data directory must not share the cluster of its original; a moved one keeps its cluster. */
async function claimElsewhere(elsewhere: string, dataFolder: string): Promise<string> {
  const ownerFile = join(elsewhere, OWNER_FILE_NAME);
  if (!existsSync(ownerFile)) {
    throw new PostgresUnavailableError(
      `The PostgreSQL files of ${dataFolder} should be in ${elsewhere}, but are not there.`,
    );
  }
  const owner = readFileSync(ownerFile, 'utf8').trim();
  if (owner === dataFolder) return elsewhere;
  const rival = join(owner, POINTER_FILE_NAME);
  if (existsSync(rival) && readFileSync(rival, 'utf8').trim() === elsewhere) {
    throw new PostgresUnavailableError(
      `The PostgreSQL files in ${elsewhere} belong to ${owner}; ${dataFolder} is a copy of it.`,
    );
  }
  await replaceFile(ownerFile, `${dataFolder}\n`);
  return elsewhere;
}

/** Returns where the cluster of a data directory is, if there is one; changes nothing. */
export function existingFolders(
  dataFolder: string,
): Pick<ClusterPlacement, 'clusterFolder' | 'passwordFile'> {
  const pointer = join(dataFolder, POINTER_FILE_NAME);
  const baseFolder = existsSync(pointer)
    ? readFileSync(pointer, 'utf8').trim()
    : join(dataFolder, 'postgres');
  return {
    clusterFolder: join(baseFolder, CLUSTER_FOLDER_NAME),
    passwordFile: join(baseFolder, PASSWORD_FILE_NAME),
  };
}

/** Returns where the cluster of a data directory is, and removes the directory's link to it. */
export async function forgetPlacement(
  dataDir: string,
): Promise<Pick<ClusterPlacement, 'baseFolder' | 'clusterFolder'>> {
  const dataFolder = realpathSync(dataDir);
  const pointer = join(dataFolder, POINTER_FILE_NAME);
  const baseFolder = existsSync(pointer)
    ? await claimElsewhere(readFileSync(pointer, 'utf8').trim(), dataFolder)
    : join(dataFolder, 'postgres');
  await rm(pointer, { force: true });
  return { baseFolder, clusterFolder: join(baseFolder, CLUSTER_FOLDER_NAME) };
}

/** Private to PostgreSQL's account (root can enter anyway); files that a killed server left are removed. */
async function prepareSocketFolder(baseFolder: string, account: SystemAccount | undefined): Promise<string> {
  const inside = join(baseFolder, 'socket');
  // The server's setting is a list, in which commas and quotes have a meaning.
  const isUsable = Buffer.byteLength(inside) <= SOCKET_FOLDER_BYTES_MAX && !/[,"]/.test(inside);
  const folder = isUsable ? inside : shortSocketFolder(baseFolder);
  await rm(folder, { recursive: true, force: true });
  // Fails if someone else has created it between the two calls.
  await mkdir(folder, { mode: 0o700 });
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  return folder;
}

function shortSocketFolder(baseFolder: string): string {
  const hash = createHash('sha256').update(baseFolder).digest('hex').slice(0, 12);
  const parent = Buffer.byteLength(tmpdir()) <= SOCKET_FOLDER_BYTES_MAX - 32 ? tmpdir() : '/tmp';
  return join(parent, `tollgate-${hash}`);
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}
