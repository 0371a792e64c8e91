import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  compareReleases,
  type Migration,
  readMigrations,
  type StoreName,
} from '../../packages/service/src/platform/migration-files.js';

const FILE = new URL('../../packages/service/db/releases.json', import.meta.url);

/** The migrations of one store in a published release. */
export interface ReleasedMigrations {
  /** Number of the last one. */
  readonly last: number;
  /** SHA-256 of the checksums of all of them, in hex. */
  readonly checksum: string;
}

/** Releases by their versions. */
export type Releases = Readonly<Record<string, Readonly<Record<StoreName, ReleasedMigrations>>>>;

export const STORE_NAMES: readonly StoreName[] = ['postgres', 'clickhouse', 'directory'];

export function readReleases(): Releases {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

/** Returns the versions of all releases, the oldest first. */
export function versionsOf(releases: Releases): string[] {
  return Object.keys(releases).sort(compareReleases);
}

/** Returns the migrations that a release has. */
export function migrationsOf(store: StoreName, { last }: Pick<ReleasedMigrations, 'last'>): Migration[] {
  return readMigrations(store).slice(0, last);
}

export function checksumOf(migrations: readonly Pick<Migration, 'checksum'>[]): string {
  const all = migrations.map(({ checksum }) => checksum).join('\n');
  return createHash('sha256').update(all).digest('hex');
}

/** Statements after which a program that still uses the object, or does not know a column, fails. */
const CONTRACTING =
  /\b(?:drop (?:table|column|view|function)|rename (?:to|column)|modify column|set not null|alter (?:column )?\w+ (?:set data )?type)\b/i;
const ADDED_COLUMN = /\badd column[^,;]*/gi;

function isContracting({ sql }: Pick<Migration, 'sql'>): boolean {
  const code = sql.replaceAll(/--.*$/gm, '');
  const requiresValue = (column: string) =>
    /\bnot null\b/i.test(column) && !/\b(default|generated)\b/i.test(column);
  return CONTRACTING.test(code) || (code.match(ADDED_COLUMN) ?? []).some(requiresValue);
}

/** Finds migrations that break the rules of docs/upgrading.md, and says what to do. */
export function migrationProblems(
  store: StoreName,
  migrations: readonly Migration[],
  releases: Releases,
): string[] {
  const versions = versionsOf(releases);
  const lastOf = (version: string) => releases[version]?.[store].last ?? 0;
  const changed = versions
    .filter(
      (version) => checksumOf(migrations.slice(0, lastOf(version))) !== releases[version]?.[store].checksum,
    )
    .map(
      (version) =>
        `The migrations of ${store} up to ${lastOf(version)} are not those of release ${version}: never change one, add a new one.`,
    );
  const [first = ''] = versions;
  const later = migrations.slice(lastOf(first));
  return [...changed, ...later.flatMap((migration) => declarationProblem(store, migration))];

  function declarationProblem(name: StoreName, migration: Migration): string[] {
    const { version: number, oldestRelease: oldest } = migration;
    const before = versions.filter((version) => lastOf(version) < number).at(-1) ?? first;
    const subject = `Migration ${number} (${migration.name}) of ${name}`;
    if (oldest === undefined) {
      return [
        `${subject} does not say which releases work with it: add the line "-- oldest release: ${before}".`,
      ];
    }
    const isFuture = compareReleases(oldest, versions.at(-1) ?? '') > 0;
    if (!versions.includes(oldest) && !isFuture) return [`${subject} names ${oldest}, which is no release.`];
    if (!isContracting(migration) || compareReleases(oldest, before) >= 0) return [];
    return [
      `${subject} takes away what releases before ${before} may use: its oldest release must be ${before} or later.`,
    ];
  }
}
