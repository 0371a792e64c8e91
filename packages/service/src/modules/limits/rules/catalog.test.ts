import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LimitCatalog, type LimitCatalogSource } from './catalog.js';
import { catalogSource } from './catalog-store.js';
import { createApiCatalog, createWorkerCatalog, LIMITS_FRESH_MS } from './index.js';
import { createManagementApi, type ManagementApi, ruleOf } from './management.testing.js';
import type { CompiledRoute } from './route-rules.js';

let api: ManagementApi;
let subjectType = 'type_0';
let made = 0;
beforeAll(async () => {
  api = await createManagementApi();
});
beforeEach(() => {
  made += 1;
  subjectType = `type_${made}`;
});
afterAll(() => api.close());

async function find(
  catalog: LimitCatalog,
  subjectId: string,
  projectId = api.projectId,
): Promise<CompiledRoute | undefined> {
  const routes = await catalog.read(api.postgres.db, [{ projectId, subjectType, subjectId }]);
  return routes.resolve(projectId, subjectType, subjectId);
}
const routeOf = (subject_id: string, body: object = {}) =>
  api.makeRoute({ subject_type: subjectType, subject_id, ...body });

/** Records the parts that are read, in order. */
function observed(reads: string[]): LimitCatalogSource {
  const watch = <Part extends (...args: never[]) => unknown>(name: string, part: Part): Part =>
    ((...args: Parameters<Part>) => {
      reads.push(name);
      return part(...args);
    }) as Part;
  return {
    readRevisions: watch('revisions', catalogSource.readRevisions),
    readRoutes: watch('routes', catalogSource.readRoutes),
    readPlans: watch('plans', catalogSource.readPlans),
    readDirectLimits: watch('limits', catalogSource.readDirectLimits),
  };
}

describe('resolution', () => {
  it("takes the subject's own route, then that of every subject of its type", async () => {
    const catalog = createWorkerCatalog();
    const own = await routeOf('own');
    expect(await find(catalog, 'other')).toBeUndefined();
    const every = await routeOf('*');
    expect((await find(catalog, 'own'))?.routeId).toBe(own.id);
    expect((await find(catalog, 'other'))?.routeId).toBe(every.id);
    expect((await find(catalog, '*'))?.routeId).toBe(every.id);
    await api.must(204, 'DELETE', `/subject-routes/${own.id}`);
    expect((await find(catalog, 'own'))?.routeId).toBe(every.id);
  });

  it('sees no other type and no other project', async () => {
    const catalog = createWorkerCatalog();
    await routeOf('a');
    await routeOf('*');
    const elsewhere = await api.makeProject(api.tenantId);
    expect(await find(catalog, 'a', elsewhere)).toBeUndefined();
    subjectType = 'stranger';
    expect(await find(catalog, 'a')).toBeUndefined();
  });

  it('knows ids of any text', async () => {
    const catalog = createWorkerCatalog();
    const ids = ['a\nb', "o'hara", '%', '__proto__', '🦜', ' '];
    const routes = await Promise.all(ids.map((id) => routeOf(id)));
    const found = await Promise.all(ids.map((id) => find(catalog, id)));
    expect(found.map((route) => route?.routeId)).toEqual(routes.map(({ id }) => id));
  });

  it('returns the account and the place of windows', async () => {
    const route = await routeOf('a', { timezone: 'Asia/Tokyo', week_start: 'sunday', usage_limit_anchor: 5 });
    expect(await find(createWorkerCatalog(), 'a')).toMatchObject({
      account: { id: route.account_id, externalId: null },
      settings: { timezone: 'Asia/Tokyo', weekStart: 'sunday', anchorS: 5 },
    });
  });
});

describe('rules', () => {
  it('are those of the newest published revision, and the direct limits before them', async () => {
    const usage_limit_plan_id = await api.makePlan([
      ruleOf({ limit_key: 'z', notify_at: [50, 100] }),
      ruleOf({
        limit_key: 'a',
        measure: 'quantity',
        period: '2 week',
        dimension_key: 'm',
        dimension_value: 'x',
      }),
    ]);
    const { id } = await routeOf('a', { usage_limit_plan_id });
    const direct = await api.must(
      201,
      'POST',
      `/subject-routes/${id}/limits`,
      ruleOf({ limit_key: 'direct' }),
    );
    const { published } = await api.must(200, 'PUT', `/usage-limit-plans/${usage_limit_plan_id}`, {
      rules: [],
    });
    const route = await find(createWorkerCatalog(), 'a');
    expect(route?.rules.rules).toMatchObject([
      { id: direct.id, planId: null, limitKey: 'direct' },
      {
        id: published.rules[0].id,
        planId: usage_limit_plan_id,
        limitKey: 'z',
        notifyAt: [50],
        webhookEvent: undefined,
      },
      {
        id: published.rules[1].id,
        period: { kind: 'anchored', unit: 'week', count: 2 },
        periodText: '2 week',
        dimension: { key: 'm', value: 'x' },
        measure: 'quantity',
      },
    ]);
  });

  it('are one object for all subjects of a plan, over all that changes elsewhere', async () => {
    const catalog = createWorkerCatalog();
    const usage_limit_plan_id = await api.makePlan([ruleOf()]);
    await routeOf('a', { usage_limit_plan_id });
    const first = await find(catalog, 'a');
    await routeOf('b', { usage_limit_plan_id });
    await routeOf('*', { usage_limit_plan_id });
    for (const id of ['a', 'b', 'c']) expect((await find(catalog, id))?.rules).toBe(first?.rules);
  });

  it('stay those of an archived plan until the route lets go of it', async () => {
    const catalog = createWorkerCatalog();
    const usage_limit_plan_id = await api.makePlan([ruleOf()]);
    const { id } = await routeOf('a', { usage_limit_plan_id });
    const before = await find(catalog, 'a');
    await api.must(200, 'POST', `/usage-limit-plans/${usage_limit_plan_id}/archive`);
    expect((await find(catalog, 'a'))?.rules.rules).toEqual(before?.rules.rules);
    await api.must(200, 'PUT', `/subject-routes/${id}`, { usage_limit_plan_id: null });
    expect((await find(catalog, 'a'))?.rules.rules).toEqual([]);
  });

  it('are none for a plan without any, and change with the next publication', async () => {
    const catalog = createWorkerCatalog();
    const usage_limit_plan_id = await api.makePlan([]);
    await routeOf('a', { usage_limit_plan_id });
    expect((await find(catalog, 'a'))?.rules.rules).toEqual([]);
    await api.must(200, 'PUT', `/usage-limit-plans/${usage_limit_plan_id}`, { rules: [ruleOf()] });
    expect((await find(catalog, 'a'))?.rules.rules).toEqual([]);
    await api.must(200, 'POST', `/usage-limit-plans/${usage_limit_plan_id}/publish`);
    expect((await find(catalog, 'a'))?.rules.rules).toMatchObject([{ limitKey: 'spend' }]);
  });
});

describe('freshness', () => {
  it('a worker knows at once what another process has written', async () => {
    const worker = createWorkerCatalog();
    expect(await find(worker, 'a')).toBeUndefined();
    const { id } = await routeOf('a');
    expect((await find(worker, 'a'))?.routeId).toBe(id);
    await api.must(204, 'DELETE', `/subject-routes/${id}`);
    expect(await find(worker, 'a')).toBeUndefined();
  });

  it('requests know what this process has written at once, and what another one has a little later', async () => {
    let now = 0;
    const other = createApiCatalog(() => now);
    expect(await find(api.catalog, 'a')).toBeUndefined();
    expect(await find(other, 'a')).toBeUndefined();
    const { id } = await routeOf('a');
    expect((await find(api.catalog, 'a'))?.routeId).toBe(id);
    now += LIMITS_FRESH_MS - 1;
    expect(await find(other, 'a')).toBeUndefined();
    now += 1;
    expect((await find(other, 'a'))?.routeId).toBe(id);
  });

  it('does not remember as fresh what was read while this process wrote', async () => {
    let written: string | undefined;
    const source: LimitCatalogSource = {
      ...catalogSource,
      readRevisions: async (db, ids) => {
        const read = await catalogSource.readRevisions(db, ids);
        if (written === undefined) {
          written = (await routeOf('a')).id;
          catalog.forget(api.projectId);
        }
        return read;
      },
    };
    const catalog = new LimitCatalog({ source, freshMs: 60_000, monotonicMs: () => 0 });
    await find(catalog, 'b');
    expect((await find(catalog, 'a'))?.routeId).toBe(written);
  });
});

describe('what is read', () => {
  it('is one narrow statement when nothing has changed, for subjects without a route too', async () => {
    const reads: string[] = [];
    const catalog = new LimitCatalog({ source: observed(reads), freshMs: 0 });
    const usage_limit_plan_id = await api.makePlan([ruleOf()]);
    const { id } = await routeOf('a', { usage_limit_plan_id });
    await api.must(201, 'POST', `/subject-routes/${id}/limits`, ruleOf());
    const read = () =>
      catalog.read(
        api.postgres.db,
        ['a', 'none'].map((subjectId) => ({ projectId: api.projectId, subjectType, subjectId })),
      );
    await read();
    expect(reads.splice(0)).toEqual(['revisions', 'routes', 'plans', 'limits']);
    await read();
    expect(reads.splice(0)).toEqual(['revisions']);
    await routeOf('elsewhere');
    await read();
    expect(reads.splice(0)).toEqual(['revisions', 'routes', 'limits']);
  });

  it('is nothing but the revision for a project without routes, and nothing at all while that is fresh', async () => {
    const reads: string[] = [];
    const catalog = new LimitCatalog({ source: observed(reads), freshMs: 1, monotonicMs: () => 0 });
    const projectId = await api.makeProject(api.tenantId);
    for (let times = 0; times < 2; times += 1) expect(await find(catalog, 'a', projectId)).toBeUndefined();
    expect(reads).toEqual(['revisions']);
  });

  it('is kept within bounds, and never dropped from the answer at hand', async () => {
    const reads: string[] = [];
    const bounds = { projectsMax: 1, routesMax: 2, plansMax: 1 };
    const catalog = new LimitCatalog({ source: observed(reads), freshMs: 0, bounds });
    const ids = ['a', 'b', 'c', 'd'];
    const plans = [await api.makePlan([ruleOf()]), await api.makePlan([])];
    const routes: { readonly id: string }[] = [];
    for (const [index, id] of ids.entries()) {
      routes.push(await routeOf(id, { usage_limit_plan_id: plans[index % 2] }));
    }
    const refs = ids.map((subjectId) => ({ projectId: api.projectId, subjectType, subjectId }));
    for (let times = 0; times < 2; times += 1) {
      const index = await catalog.read(api.postgres.db, refs);
      const found = ids.map((id) => index.resolve(api.projectId, subjectType, id));
      expect(found.map((route) => route?.routeId)).toEqual(routes.map(({ id }) => id));
      expect(found.map((route) => route?.rules.rules.length)).toEqual([1, 0, 1, 0]);
    }
    await find(catalog, 'd');
    reads.length = 0;
    await find(catalog, 'a');
    expect(reads).toContain('routes');
  });
});
