import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseMigration, readMigrations } from '../packages/service/src/platform/migration-files.js';
import {
  checksumOf,
  migrationProblems,
  migrationsOf,
  type Releases,
  readReleases,
  STORE_NAMES,
  versionsOf,
} from './support/releases.js';

const ROOT = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const RELEASES = readReleases();
const NEWEST = versionsOf(RELEASES).at(-1) ?? '';

describe('the newest release', () => {
  const workspaces = [
    'tests/openapi',
    ...readdirSync(new URL('packages', ROOT)).map((name) => `packages/${name}`),
  ];

  it('is the version of every package', () => {
    const lock = JSON.parse(read('package-lock.json')).packages;
    for (const path of workspaces) {
      expect([path, JSON.parse(read(`${path}/package.json`)).version]).toEqual([path, NEWEST]);
      expect([path, lock[path].version]).toEqual([path, NEWEST]);
    }
    expect(JSON.parse(read('packages/sdk/package.json')).devDependencies['@tollgate/contract']).toBe(NEWEST);
  });

  it.each([
    ['packages/sdk/README.md', /tollgate-sdk-([\d.]+)\.tgz/],
    ['deploy/kubernetes/example/kustomization.yaml', /newTag: ([\d.]+)/],
    ['deploy/kubernetes/example/migrate/kustomization.yaml', /newTag: ([\d.]+)/],
  ])('is the version in %s', (path, version) => {
    expect(version.exec(read(path))?.[1]).toBe(NEWEST);
  });

  it('has the first part of the changelog below the unreleased changes, with its date', () => {
    const headings = read('CHANGELOG.md').match(/^## .*$/gm) ?? [];
    expect(headings.map((heading) => heading.replace(/ \(\d{4}-\d\d-\d\d\)$/, ' (date)'))).toEqual([
      '## Unreleased',
      ...versionsOf(RELEASES)
        .reverse()
        .map((version) => `## ${version} (date)`),
    ]);
  });
});

describe('migrations', () => {
  it.each(STORE_NAMES)('of %s are fixed by the releases, and say which releases work with them', (store) => {
    expect(migrationProblems(store, readMigrations(store), RELEASES)).toEqual([]);
    expect(migrationsOf(store, { last: 1 })).toHaveLength(1);
  });

  const step = (version: number, sql: string) => parseMigration(`000${version}_step.sql`, sql);
  const released = [step(1, 'create table a (n integer);'), step(2, '-- oldest release: 0.1.0\nselect 2;')];
  const upTo = (last: number) => ({ last, checksum: checksumOf(released.slice(0, last)) });
  const all = (last: number) => ({ postgres: upTo(last), clickhouse: upTo(last), directory: upTo(last) });
  const releases: Releases = { '0.1.0': all(1), '0.2.0': all(2) };
  const problems = (sql: string) => migrationProblems('postgres', [...released, step(3, sql)], releases);

  it('that a release has may not change', () => {
    const [first, second] = released as [(typeof released)[0], (typeof released)[0]];
    const changed = step(1, 'create table a (n bigint);');
    expect(migrationProblems('directory', [changed, second], releases)).toEqual([
      'The migrations of directory up to 1 are not those of release 0.1.0: never change one, add a new one.',
      'The migrations of directory up to 2 are not those of release 0.2.0: never change one, add a new one.',
    ]);
    expect(migrationProblems('directory', [first], releases)).toHaveLength(1);
    expect(migrationProblems('directory', released, releases)).toEqual([]);
  });

  it('must name a release', () => {
    expect(problems('select 3;')).toEqual([
      'Migration 3 (step) of postgres does not say which releases work with it: add the line "-- oldest release: 0.2.0".',
    ]);
    expect(problems('-- oldest release: 0.1.5\nselect 3;')).toEqual([
      'Migration 3 (step) of postgres names 0.1.5, which is no release.',
    ]);
    for (const oldest of ['0.1.0', '0.2.0', '0.3.0'])
      expect(problems(`-- oldest release: ${oldest}\nselect 3;`)).toEqual([]);
  });

  it.each([
    'drop table a;',
    'alter table a drop column n;',
    'alter table a rename column n to m;',
    'ALTER TABLE a MODIFY COLUMN n UInt8;',
    'alter table a alter column n type bigint;',
    'alter table a alter n set not null;',
    'alter table a add column m integer not null;',
  ])('that contract must leave old releases behind: %s', (sql) => {
    expect(problems(`-- oldest release: 0.1.0\n${sql}`)).toEqual([
      'Migration 3 (step) of postgres takes away what releases before 0.2.0 may use: its oldest release must be 0.2.0 or later.',
    ]);
    expect(problems(`-- oldest release: 0.2.0\n${sql}`)).toEqual([]);
  });

  it.each(['-- drop table a', 'alter table a add column m integer not null default 0;'])(
    'that only expand may keep them: %s',
    (sql) => {
      expect(problems(`-- oldest release: 0.1.0\n${sql}`)).toEqual([]);
    },
  );
});
