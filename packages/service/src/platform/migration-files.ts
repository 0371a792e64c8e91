import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { VERSION } from './version.js';

/** One step of a store's schema. */
export interface Migration {
  readonly version: number;
  /** The file name without its number and extension. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text, in hex. */
  readonly checksum: string;
  /**
   * The oldest release that works with the schema after this migration, from the line `-- oldest release: 1.2.3`.
   * Undefined if the file does not say: then only releases that have the file work.
   */
  readonly oldestRelease: string | undefined;
  /** Whether PostgreSQL runs the whole file in one transaction: not if the file has the line `-- no transaction`. */
  readonly isInTransaction: boolean;
}

/** A store's record of a migration that was applied to it. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  /** See `Migration.oldestRelease`; absent, null or empty if the file did not say. */
  readonly oldest_release?: string | null;
}

/** The store's schema does not fit this release; the message is one sentence for the operator. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export type StoreName = 'postgres' | 'clickhouse' | 'directory';

/** Returns the command that migrates a store. The directory belongs to all cells, and has commands of its own. */
export function migrationCommand(store: StoreName): string {
  return store === 'directory' ? 'tollgate cell list' : 'tollgate migrate';
}

/** Returns the error of a process that may only check the schema. */
export function outdatedError(store: StoreName, pending: readonly Migration[]): MigrationError {
  return new MigrationError(
    `The ${store} schema is not up to date (pending migrations: ${pending.length}): run ${migrationCommand(store)}.`,
  );
}

/** Reads `db/<store>/NNNN_name.sql`, in order. */
export function readMigrations(store: StoreName): Migration[] {
  // src/platform, dist/platform and dist/bundle (which runs) are equally deep below the package.
  const folder = new URL(`../../db/${store}/`, import.meta.url);
  const migrations = readdirSync(fileURLToPath(folder))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => parseMigration(file, readFileSync(new URL(file, folder), 'utf8')));
  migrations.sort((a, b) => a.version - b.version);
  for (const [index, { version }] of migrations.entries()) {
    if (version !== index + 1)
      throw new MigrationError(`Migration ${index + 1} of ${store} is missing or exists twice.`);
  }
  return migrations;
}

const OLDEST_RELEASE = /^-- oldest release: (\d+\.\d+\.\d+)$/m;
const NO_TRANSACTION = /^-- no transaction$/m;

/** Windows line endings, which a checkout may add, do not change the checksum. */
export function parseMigration(file: string, text: string): Migration {
  const match = /^(\d+)_([a-z0-9_]+)\.sql$/.exec(file);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new MigrationError(`${file} is not named like 0001_name.sql.`);
  }
  const sql = text.replaceAll('\r\n', '\n');
  return {
    version: Number(match[1]),
    name: match[2],
    sql,
    checksum: createHash('sha256').update(sql).digest('hex'),
    oldestRelease: OLDEST_RELEASE.exec(sql)?.[1],
    isInTransaction: !NO_TRANSACTION.test(sql),
  };
}

/** Splits SQL into statements, which end with a semicolon at the end of a line. Comments of whole lines are dropped. */
export function splitStatements(sql: string): string[] {
  return sql
    .replaceAll(/^\s*--.*$/gm, '')
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/**
 * Returns the migrations that have to be applied. The store may have newer migrations that this release does not know,
 * if this release still works with them.
 *
 * @param release the release of this program
 * @throws MigrationError if the store was created by other files, or by a newer release that left this one behind
 */
export function pendingMigrations(
  store: StoreName,
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
  release = VERSION,
): Migration[] {
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const record of applied) {
    const { version, name, checksum } = record;
    const known = byVersion.get(version);
    if (known === undefined) requireCompatible(store, record, release);
    else if (known.checksum !== checksum) {
      throw new MigrationError(
        `Migration ${version} (${name}) of ${store} was changed after it had been applied: add a new one instead.`,
      );
    }
  }
  const done = new Set(applied.map(({ version }) => version));
  return migrations.filter(({ version }) => !done.has(version));
}

/** Compares `0.10.0` with `0.9.0` by their numbers; negative if the first release is older. */
export const compareReleases = new Intl.Collator('en', { numeric: true }).compare;

/** @throws MigrationError if a release does not work with a migration that it does not know */
function requireCompatible(
  store: StoreName,
  { version, name, oldest_release: oldest }: AppliedMigration,
  release: string,
): void {
  const unknown = `The ${store} schema has migration ${version} (${name}), which`;
  if (!oldest) {
    throw new MigrationError(`${unknown} this release (${release}) does not know: run a newer release.`);
  }
  if (compareReleases(release, oldest) < 0) {
    throw new MigrationError(`${unknown} needs release ${oldest} or later: this is release ${release}.`);
  }
}
