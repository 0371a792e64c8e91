import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRef } from '../../../kernel/scope.js';
import { noteKeys } from '../../../platform/changes/index.js';
import { transaction } from '../../../platform/postgres/index.js';
import { waitFor } from '../../../testing/index.js';
import { plainInput } from '../leases/lease-calls.testing.js';
import { readUnlocked } from '../leases/unlocked.js';
import { catalogSource } from '../rules/catalog-store.js';
import { LimitCatalog } from '../rules/index.js';
import { subjectNumber } from '../rules/route-rules.js';
import type { AskedRule, UsageQuery } from './limit-status-store.js';
import { createTestLimits, makeLimit, makeRoute, type TestLimits } from './realtime.testing.js';
import { SubjectLimits } from './subject-limits.js';
import { USAGE_FRESH_MS, UsageReads } from './usage-reads.js';

const LOOK_MS = USAGE_FRESH_MS * 0.4;
const ONE = 10n ** 18n;
const user = { type: 'user', id: 'u1' };

/** Another process: its leases are told to nobody but the database. */
let api: TestLimits;
let project: ProjectRef;
let nowMs: number;
let limits: SubjectLimits;

beforeAll(async () => {
  api = await createTestLimits();
  const { rows } = await api.postgres.pool.query('select no from projects where id = $1', [api.projectId]);
  const { tenantId, projectId } = api;
  project = { tenantId, projectId, projectNo: Number(rows[0].no), kind: 'release', storage: 'shared' };
  const route = await makeRoute(api, { id: 'ra_1', subjectId: 'u1' });
  await makeLimit(api, route, { key: 'budget', amount: '1000', period: 'lifetime' });
});
afterAll(() => api.close());

beforeEach(async () => {
  nowMs = 0;
  const { postgres, clock } = api;
  const catalog = new LimitCatalog({ source: catalogSource, freshMs: 0 });
  const memory = { freshMs: USAGE_FRESH_MS, log: { warn: () => {} }, monotonicMs: () => nowMs };
  limits = new SubjectLimits({ postgres, clock, catalog, memory });
  await readUntil('memory');
});

/** Reads the reserved amount, and says where the answer was found. */
async function read(): Promise<{ reserved: number; source: string }> {
  const { memory } = limits.usage.answerCounts;
  const options = { atS: undefined, levels: 'own' } as const;
  const { limits: shown } = await limits.snapshot(project, user, options);
  const source = limits.usage.answerCounts.memory > memory ? 'memory' : 'database';
  return { reserved: Number(shown[0]?.reserved_amount), source };
}

const readUntil = (source: string) =>
  waitFor(async () => (await read()).source === source, { what: `an answer from the ${source}` });

const reserve = () => api.leases.create(project, plainInput(user, ONE, { ttlSeconds: 600 }), undefined);

describe('usage that is read again', () => {
  it('comes from memory, and changes of other processes are learned with the next look', async () => {
    const { reserved } = await read();
    await reserve();
    nowMs = LOOK_MS - 1;
    expect(await read()).toEqual({ reserved, source: 'memory' });
    nowMs = LOOK_MS;
    await waitFor(async () => (await read()).reserved === reserved + 1, { what: 'the change' });
    await readUntil('memory');
    expect(await read()).toEqual({ reserved: reserved + 1, source: 'memory' });
  });

  it('is read in statements of bounded size, on one snapshot', async () => {
    const { postgres, projectId } = api;
    const { projectNo } = project;
    const subjects = Array.from({ length: 600 }, (_, index) => ({ type: 'user', id: `many-${index}` }));
    const queries = subjects.map((subject): UsageQuery => {
      const rule = { ruleNo: 1, period: { kind: 'calendar' } };
      const asked = { at: { level: 0, subject }, rule, window: { startS: 0 }, value: undefined };
      return { projectId, projectNo, rules: [asked as unknown as AskedRule], wallet: undefined };
    });
    const sizes: number[] = [];
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if ('reserved_version' in (result.rows[0] ?? {})) sizes.push(result.rows.length);
        return result;
      },
    };
    const memory = { freshMs: USAGE_FRESH_MS, log: { warn: () => {} }, monotonicMs: () => nowMs };
    const observed = { db: postgres.db.withPlugin(counting), pool: postgres.pool };
    const reads = new UsageReads({ postgres: observed, memory });
    const areRemembered = async () => {
      const { database } = reads.answerCounts;
      await Promise.all(queries.map((query) => reads.read(query, project.tenantId)));
      return reads.answerCounts.database === database;
    };
    await waitFor(areRemembered, { what: 'windows from memory' });
    const keys = subjects.map((subject) => subjectNumber(projectNo, subject));
    await transaction(postgres, (tx) => noteKeys(tx, keys));
    nowMs = LOOK_MS;
    await areRemembered();
    await waitFor(async () => sizes.length > 2, { what: 'the windows that have changed' });
    expect(sizes).toEqual([250, 250, 100]);
    await waitFor(areRemembered, { what: 'windows from memory' });
  });

  it('comes from the database once the last look is too old', async () => {
    const { reserved } = await read();
    await reserve();
    nowMs = USAGE_FRESH_MS + 1;
    expect(await read()).toEqual({ reserved: reserved + 1, source: 'database' });
  });

  it('comes from the database after a change by this process', async () => {
    const { reserved } = await read();
    await reserve();
    limits.usage.forget(project.projectId);
    expect(await read()).toEqual({ reserved: reserved + 1, source: 'database' });
    expect(await read()).toEqual({ reserved: reserved + 1, source: 'memory' });
  });

  it('is asked of the database where a lease is decided', async () => {
    const { reserved } = await read();
    await reserve();
    const [levels = []] = await limits.levelsOf(project.projectId, [user]);
    const rules = levels.flatMap((at) => at.route.rules.rules.map((rule) => ({ at, rule })));
    const { statuses } = await readUnlocked(api, project, rules, []);
    const [status] = statuses.values();
    expect(Number(status?.reserved) / Number(ONE)).toBe(reserved + 1);
  });

  it('is not worth a look for a few reads', async () => {
    nowMs = 10 * USAGE_FRESH_MS;
    for (let reads = 0; reads < 3; reads += 1) expect((await read()).source).toBe('database');
    await readUntil('memory');
  });

  it('is read from the database each time without a memory', async () => {
    const { postgres, clock } = api;
    const catalog = new LimitCatalog({ source: catalogSource, freshMs: 0 });
    limits = new SubjectLimits({ postgres, clock, catalog });
    for (let reads = 0; reads < 10; reads += 1) expect((await read()).source).toBe('database');
  });

  it('stays in memory after a check that Fastify serves', async () => {
    const memory = { freshMs: USAGE_FRESH_MS, log: { warn: () => {} }, monotonicMs: () => nowMs };
    const remembering = await createTestLimits(memory);
    const route = await makeRoute(remembering, { id: 'ra_2', subjectId: 'u2' });
    await makeLimit(remembering, route, { key: 'second', amount: '1', period: 'lifetime' });
    const body = { subject_type: 'user', subject_id: 'u2', currency: 'USD' };
    const check = () => remembering.call('POST', `${remembering.url}/subject/realtime/check`, body);
    const isRemembered = async () => {
      expect((await check()).status).toBe(200);
      return remembering.usage.answerCounts.memory > 1;
    };
    await waitFor(isRemembered, { what: 'checks from memory' });
    await remembering.close();
  });
});
