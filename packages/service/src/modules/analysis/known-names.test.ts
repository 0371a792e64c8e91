import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectRef } from '../../kernel/scope.js';
import { createTestClickHouse, insertUsageRows, type TestClickHouse, usageRow } from '../../testing/index.js';
import { ProjectHistory } from '../storage/index.js';
import { KnownNames, type UnknownNames } from './known-names.js';
import { KNOWN_NAMES_MAX, type UsedNames, usedNames } from './known-names-store.js';

const project = (projectId: string, tenantId = 'ten_1'): ProjectRef => ({
  tenantId,
  projectId,
  projectNo: 1,
  kind: 'development',
  storage: 'shared',
});
const NAMES: UsedNames = { metrics: ['tokens'], dimensions: ['model'], subject_types: ['user'] };

const namesOf = async (unknown: Promise<UnknownNames>) => (await unknown).names;

describe('known names', () => {
  it('are read once for a while, and again after it', async () => {
    let nowMs = 0;
    let reads = 0;
    const read = async () => {
      reads += 1;
      return { ...NAMES, metrics: [`m${reads}`] };
    };
    const names = new KnownNames({ read, monotonicMs: () => nowMs });
    const unknown = () => namesOf(names.unknown(project('prj_1'), 'metrics', ['m1', 'm2']));
    expect(await Promise.all([unknown(), unknown()])).toEqual([['m2'], ['m2']]);
    nowMs = 9_999;
    expect(await unknown()).toEqual(['m2']);
    nowMs = 10_000;
    expect(await unknown()).toEqual(['m1']);
    expect(await names.unknown(project('prj_2'), 'dimensions', ['model', 'modle'])).toEqual({
      names: ['modle'],
      known: ['model'],
    });
    expect(reads).toBe(3);
  });

  it('are all names while the history cannot be read, and where there are more than are read', async () => {
    const many = Array.from({ length: KNOWN_NAMES_MAX }, (_, index) => `s${index}`);
    const reads: (() => Promise<UsedNames>)[] = [
      () => Promise.reject(new Error('away')),
      async () => ({ ...NAMES, subject_types: many }),
    ];
    const names = new KnownNames({ read: async () => (reads.shift() ?? (async () => NAMES))() });
    const unknown = () => namesOf(names.unknown(project('prj_1'), 'subject_types', ['any']));
    expect(await unknown()).toEqual([]);
    expect(await unknown()).toEqual([]);
    expect(reads).toEqual([]);
    expect(await namesOf(names.unknown(project('prj_1'), 'metrics', ['any']))).toEqual(['any']);
  });

  it('are read of two projects at once, tenants in turns', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const read = ({ projectId }: ProjectRef) => {
      begun.push(projectId);
      return new Promise<UsedNames>((resolve) => ends.push(() => resolve(NAMES)));
    };
    const names = new KnownNames({ read });
    const unknown = (of: ProjectRef) => namesOf(names.unknown(of, 'metrics', ['any']));
    const asked = ['a1', 'a2', 'a3', 'a4'].map((id) => unknown(project(id, 'ten_a')));
    asked.push(unknown(project('b1', 'ten_b')));
    await new Promise(setImmediate);
    expect(begun).toEqual(['a1', 'a2']);
    ends.shift()?.();
    await new Promise(setImmediate);
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    while (ends.length > 0) {
      ends.shift()?.();
      await new Promise(setImmediate);
    }
    expect(await Promise.all(asked)).toEqual(asked.map(() => ['any']));
    expect(begun).toHaveLength(5);
  });

  it('are all names for the projects of a tenant of which too many wait, and not for those of others', async () => {
    const ends: (() => void)[] = [];
    const read = () => new Promise<UsedNames>((resolve) => ends.push(() => resolve(NAMES)));
    const names = new KnownNames({ read });
    const unknown = (of: ProjectRef) => namesOf(names.unknown(of, 'metrics', ['any']));
    const asked = Array.from({ length: 750 }, (_, n) => unknown(project(`a${n}`, 'ten_a')));
    expect(await unknown(project('more', 'ten_a'))).toEqual([]);
    const other = unknown(project('b1', 'ten_b'));
    await new Promise(setImmediate);
    while (ends.length > 0) {
      ends.shift()?.();
      await new Promise(setImmediate);
    }
    expect(await other).toEqual(['any']);
    await Promise.all(asked);
  });
});

describe('the names that usage has', () => {
  let store: TestClickHouse;

  beforeAll(async () => {
    store = await createTestClickHouse();
    const usage = { tenantId: 'ten_1', projectId: 'prj_1', occurredAt: 1_750_000_000 };
    await insertUsageRows(store.clickhouse, [
      usageRow({ ...usage, subjectType: 'user', dimensions: new Map([['model', 'large']]) }),
      usageRow({ ...usage, subjectType: 'team', dimensions: new Map([['region', 'eu']]) }),
      usageRow({ ...usage, projectId: 'prj_2', dimensions: new Map([['other', 'x']]) }),
    ]);
  });
  afterAll(() => store.drop());

  it('are those of the project, from when its usage is kept', async () => {
    const scope = { ...project('prj_1'), retainedFrom: 0, excludedDimensions: [] };
    const { metrics, dimensions, subject_types } = await usedNames(
      new ProjectHistory(store.clickhouse, scope),
    );
    expect(metrics).toEqual(['llm.tokens']);
    expect([...dimensions].sort()).toEqual(['model', 'region']);
    expect(subject_types).toEqual(expect.arrayContaining(['team', 'user']));
    const later = await usedNames(
      new ProjectHistory(store.clickhouse, { ...scope, retainedFrom: 1_751_000_000 }),
    );
    expect(later).toEqual({ metrics: [], dimensions: [], subject_types: [] });
  });
});
