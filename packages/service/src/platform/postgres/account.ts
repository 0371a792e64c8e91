import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** An operating-system account that PostgreSQL runs under when the service itself is root. */
export interface SystemAccount {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

const NOBODY: SystemAccount = { uid: 65_534, gid: 65_534, name: 'nobody' };

/**
 * Returns the account for PostgreSQL, which refuses to run as root: `postgres` if the system has it, otherwise
 * `nobody`.
 */
export function unprivilegedAccount(passwd = readPasswd()): SystemAccount {
  return findAccount(passwd, 'postgres') ?? findAccount(passwd, 'nobody') ?? NOBODY;
}

/**
 * Returns the account that owns an existing cluster; undefined when it belongs to root, which no cluster of this
 * service does.
 */
export function ownerOf(path: string): SystemAccount | undefined {
  const { uid, gid } = statSync(path);
  return uid === 0 ? undefined : { uid, gid, name: `uid ${uid}` };
}

/** Whether the account may enter every folder from the root down to and including `folder`. */
export function canEnter(account: SystemAccount, folder: string): boolean {
  for (let path = resolve(folder); ; path = dirname(path)) {
    if (!allows(account, path, 0o1)) return false;
    if (path === dirname(path)) return true;
  }
}

/** Whether the account may read the file, and enter every folder above it. */
export function canRead(account: SystemAccount, file: string): boolean {
  return allows(account, file, 0o4) && canEnter(account, dirname(file));
}

function allows(account: SystemAccount, path: string, bit: number): boolean {
  const { uid, gid, mode } = statSync(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & bit) === bit;
}

function findAccount(passwd: string, name: string): SystemAccount | undefined {
  const fields = passwd
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))
    ?.split(':');
  const uid = Number(fields?.[2]);
  const gid = Number(fields?.[3]);
  // macOS stores the ids of `nobody` as -2; the system calls take them as unsigned numbers.
  return Number.isInteger(uid) && Number.isInteger(gid) && uid !== 0
    ? { uid: uid >>> 0, gid: gid >>> 0, name }
    : undefined;
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
