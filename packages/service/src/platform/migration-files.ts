import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One step of a store's schema. */
export interface Migration {
  readonly version: number;
  /** The file name without its number and extension. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text, in hex. */
  readonly checksum: string;
}

/** A store's record of a migration that was applied to it. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
}

/** The store's schema does not fit this release; the message is one sentence for the operator. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export type StoreName = 'postgres' | 'clickhouse' | 'directory';

/** Returns the error of a process that may only check the schema. */
export function outdatedError(store: StoreName, pending: readonly Migration[]): MigrationError {
  return new MigrationError(
    `The ${store} schema is not up to date (pending migrations: ${pending.length}): run tollgate migrate.`,
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
  };
}

/**
 * Returns the migrations that have to be applied. Throws MigrationError when the store was created by other or newer
 * files.
 */
export function pendingMigrations(
  store: StoreName,
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration[] {
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, name, checksum } of applied) {
    const known = byVersion.get(version);
    if (known === undefined) {
      throw new MigrationError(
        `The ${store} schema has migration ${version} (${name}), which this release does not know: run a newer release.`,
      );
    }
    if (known.checksum !== checksum) {
      throw new MigrationError(
        `Migration ${version} (${name}) of ${store} was changed after it had been applied: add a new one instead.`,
      );
    }
  }
  const done = new Set(applied.map(({ version }) => version));
  return migrations.filter(({ version }) => !done.has(version));
}
