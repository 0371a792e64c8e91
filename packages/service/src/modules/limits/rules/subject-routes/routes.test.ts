import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditedActions, createManagementApi, type ManagementApi, ruleOf } from '../management.testing.js';

let api: ManagementApi;
beforeAll(async () => {
  api = await createManagementApi();
});
afterAll(() => api.close());

const ROUTES = '/subject-routes';
const post = (body: object, status = 201) => saved(status, 'POST', ROUTES, body);
const put = (id: string, body: object, status = 200) => saved(status, 'PUT', `${ROUTES}/${id}`, body);
/** Sends a request and returns the saved fields, without warnings. */
async function saved(...request: Parameters<ManagementApi['must']>) {
  const { warnings: _, ...answer } = await api.must(...request);
  return answer;
}
const get = (id: string, status = 200) => api.must(status, 'GET', `${ROUTES}/${id}`);
const nowS = () => Math.floor(api.clock.nowMs() / 1000);

async function accounts(): Promise<{ id: string; name: string }[]> {
  const { rows } = await api.postgres.pool.query('select id, name from accounts order by id');
  return rows;
}

describe('create', () => {
  it('returns the route, with defaults for missing fields', async () => {
    const before = await accounts();
    const route = await post({ subject_type: 'user', subject_id: 'ada' });
    expect(route).toEqual({
      id: expect.stringMatching(/^ra_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      project_id: api.projectId,
      subject_type: 'user',
      subject_id: 'ada',
      account_id: expect.stringMatching(/^acct_[0-9a-f]{32}$/),
      parent: null,
      usage_limit_plan_id: null,
      usage_limit_anchor: nowS(),
      timezone: 'UTC',
      week_start: 'monday',
      created_at: nowS(),
      updated_at: nowS(),
    });
    expect((await accounts()).slice(before.length)).toEqual([{ id: route.account_id, name: 'user ada' }]);
    expect(await get(route.id)).toEqual(route);
  });

  it('takes everything as it is sent', async () => {
    const { account_id } = await api.makeRoute();
    const before = await accounts();
    const body = {
      subject_type: 'api_key',
      subject_id: '*',
      account_id,
      usage_limit_plan_id: await api.makePlan(),
      usage_limit_anchor: 0,
      timezone: 'Europe/Berlin',
      week_start: 'sunday',
    };
    expect(await post(body)).toMatchObject(body);
    expect(await accounts()).toEqual(before);
  });

  it('names the account it opens after the longest subject, in whole characters', async () => {
    const subject_id = '🦜'.repeat(120);
    const { account_id } = await post({ subject_type: 'bird', subject_id });
    const opened = (await accounts()).find(({ id }) => id === account_id);
    expect(opened?.name).toBe(`bird ${subject_id}`);
    const long = await post({ subject_type: 'bird', subject_id: 'x'.repeat(255) });
    expect((await accounts()).find(({ id }) => id === long.account_id)?.name).toHaveLength(200);
  });

  it('refuses a second route for the same subject, and opens no account for it', async () => {
    const body = { subject_type: 'user', subject_id: 'twin' };
    const { id } = await post(body);
    const before = await accounts();
    expect(await post(body, 409)).toEqual({
      error: `The subject already has a route: ${id}.`,
      code: 'subject_route_exists',
      details: [
        { path: 'subject_id', message: `the subject already has the route ${id}`, subject_route_id: id },
      ],
    });
    expect(await accounts()).toEqual(before);
    await post({ ...body, subject_type: 'key' });
    await post({ ...body, subject_id: '*' });
    expect((await post({ ...body, subject_id: '*' }, 409)).code).toBe('subject_route_exists');
  });

  it('makes one route, however many ask at a time', async () => {
    const body = { subject_type: 'user', subject_id: 'raced' };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => api.call('POST', `${api.url}${ROUTES}`, body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  it.each([
    ['no type', { subject_type: undefined }, 'subject_type'],
    ['a type in capitals', { subject_type: 'User' }, 'subject_type'],
    ['every type', { subject_type: '*' }, 'subject_type'],
    ['no id', { subject_id: undefined }, 'subject_id'],
    ['an empty id', { subject_id: '' }, 'subject_id'],
    ['a long id', { subject_id: 'x'.repeat(256) }, 'subject_id'],
    ['an id with NUL', { subject_id: 'a\0' }, 'subject_id'],
    ['an unknown account', { account_id: 'acct_none' }, 'account_id'],
    ['no account', { account_id: null }, 'account_id'],
    ['an unknown plan', { usage_limit_plan_id: 'ulp_none' }, 'usage_limit_plan_id'],
    ['a place that is no timezone', { timezone: 'Europe/Atlantis' }, 'timezone'],
    ['the local timezone', { timezone: 'Local' }, 'timezone'],
    ['an offset', { timezone: '+02:00' }, 'timezone'],
    ['an empty timezone', { timezone: '' }, 'timezone'],
    ['an unknown day', { week_start: 'Monday' }, 'week_start'],
    ['an anchor in milliseconds', { usage_limit_anchor: 1_790_000_000_000_000 }, 'usage_limit_anchor'],
    ['an anchor after the year 2100', { usage_limit_anchor: 4_102_444_801 }, 'usage_limit_anchor'],
    ['half a second', { usage_limit_anchor: 0.5 }, 'usage_limit_anchor'],
    ['an id of its own', { id: 'ra_1' }, 'id'],
  ])('refuses %s', async (_, change, path) => {
    const body = JSON.stringify({ subject_type: 'user', subject_id: 'x', ...change });
    const refused = await api.must(400, 'POST', ROUTES, body);
    expect([refused.code, refused.details[0].path]).toEqual(['invalid_request', path]);
  });

  it("refuses another project's account and plan just as unknown ones", async () => {
    const otherUrl = `/v1/projects/${await api.makeProject(api.tenantId)}`;
    const foreign = (
      await api.call('POST', `${otherUrl}/subject-routes`, { subject_type: 'user', subject_id: 'u' })
    ).json();
    const plan = (await api.call('POST', `${otherUrl}/usage-limit-plans`, { name: 'p', title: 'p' })).json();
    await api.call('POST', `${otherUrl}/usage-limit-plans/${plan.id}/publish`);
    const subject = { subject_type: 'user', subject_id: 'bold' };
    for (const [own, absent] of [
      [{ account_id: foreign.account_id }, { account_id: 'acct_none' }],
      [{ usage_limit_plan_id: plan.id }, { usage_limit_plan_id: 'ulp_none' }],
    ]) {
      expect(await post({ ...subject, ...own }, 400)).toEqual(await post({ ...subject, ...absent }, 400));
    }
  });
});

describe('binding a plan', () => {
  const boundAtMs = async (id: string) => {
    const { rows } = await api.postgres.pool.query(
      'select plan_bound_at_ms from subject_routes where id = $1',
      [id],
    );
    return rows[0].plan_bound_at_ms;
  };

  it('refuses a draft and an archived plan', async () => {
    const draft = await api.makePlan([], false);
    const archived = await api.makePlan();
    await api.must(200, 'POST', `/usage-limit-plans/${archived}/archive`);
    const route = await api.makeRoute();
    for (const [usage_limit_plan_id, problem] of [
      [draft, 'has no published version: publish it first'],
      [archived, 'is archived: restore it first'],
    ]) {
      const created = await post({ subject_type: 'user', subject_id: 'unbound', usage_limit_plan_id }, 409);
      const message = `${usage_limit_plan_id} ${problem}`;
      expect(created).toMatchObject({
        code: 'plan_not_published',
        error: `${message}.`,
        details: [{ path: 'usage_limit_plan_id', message }],
      });
      expect((await put(route.id, { usage_limit_plan_id }, 409)).code).toBe('plan_not_published');
    }
    await api.must(200, 'POST', `/usage-limit-plans/${archived}/restore`);
    await put(route.id, { usage_limit_plan_id: archived });
  });

  it('keeps an archived plan that is bound already, and takes it back no more once it is let go', async () => {
    const usage_limit_plan_id = await api.makePlan([ruleOf()]);
    const { id } = await api.makeRoute({ usage_limit_plan_id });
    await api.must(200, 'POST', `/usage-limit-plans/${usage_limit_plan_id}/archive`);
    expect(await put(id, { usage_limit_plan_id, timezone: 'Asia/Tokyo' })).toMatchObject({
      usage_limit_plan_id,
      timezone: 'Asia/Tokyo',
    });
    expect((await put(id, { usage_limit_plan_id: null })).usage_limit_plan_id).toBe(null);
    expect((await put(id, { usage_limit_plan_id }, 409)).code).toBe('plan_not_published');
  });

  it('remembers since when the plan applies', async () => {
    const [first, second] = [await api.makePlan(), await api.makePlan()];
    const { id } = await api.makeRoute({ usage_limit_plan_id: first });
    const boundAt = api.clock.nowMs();
    expect(await boundAtMs(id)).toBe(boundAt);
    api.clock.advanceMs(1_234);
    await put(id, { usage_limit_plan_id: first, week_start: 'friday' });
    expect(await boundAtMs(id)).toBe(boundAt);
    await put(id, { usage_limit_plan_id: second });
    expect(await boundAtMs(id)).toBe(boundAt + 1_234);
    await put(id, { usage_limit_plan_id: null });
    expect(await boundAtMs(id)).toBe(null);
  });
});

describe('update', () => {
  it('changes what is sent and nothing else', async () => {
    const route = await post({
      subject_type: 'user',
      subject_id: 'changed',
      timezone: 'Asia/Kolkata',
      usage_limit_plan_id: await api.makePlan(),
    });
    api.clock.advanceMs(60_000);
    expect(await put(route.id, {})).toEqual({ ...route, updated_at: nowS() });
    const { account_id } = await api.makeRoute();
    const change = { account_id, usage_limit_anchor: 7, week_start: 'sunday', subject_id: 'renamed' };
    expect(await put(route.id, change)).toEqual({ ...route, ...change, updated_at: nowS() });
    expect(await get(route.id)).toEqual({ ...route, ...change, updated_at: nowS() });
  });

  it('refuses the subject of another route, and takes its own', async () => {
    const [first, second] = [await api.makeRoute(), await api.makeRoute()];
    const { subject_type, subject_id } = await get(first.id);
    expect((await put(second.id, { subject_id }, 409)).code).toBe('subject_route_exists');
    await put(first.id, { subject_type, subject_id });
  });

  it('refuses what create refuses', async () => {
    const { id } = await api.makeRoute();
    for (const [path, body] of Object.entries({
      account_id: { account_id: 'acct_none' },
      timezone: { timezone: 'Local' },
      usage_limit_plan_id: { usage_limit_plan_id: 'ulp_none' },
      tenant_id: { tenant_id: 'x' },
    })) {
      expect((await put(id, body, 400)).details[0].path).toBe(path);
    }
    expect((await put('ra_none', {}, 404)).code).toBe('not_found');
  });
});

describe('delete', () => {
  it('takes the route and its limits away, and leaves its account', async () => {
    const { id, account_id } = await api.makeRoute();
    const subject = await get(id);
    await api.must(201, 'POST', `${ROUTES}/${id}/limits`, ruleOf());
    await api.must(204, 'DELETE', `${ROUTES}/${id}`);
    await get(id, 404);
    await api.must(404, 'DELETE', `${ROUTES}/${id}`);
    await api.must(404, 'GET', `${ROUTES}/${id}/limits`);
    expect((await accounts()).map((account) => account.id)).toContain(account_id);
    const { subject_type, subject_id } = subject;
    expect((await post({ subject_type, subject_id, account_id })).id).not.toBe(id);
  });
});

describe('list', () => {
  it('filters by all that is asked, newest first, and pages', async () => {
    const own = await createManagementApi();
    const list = (query: string) => own.must(200, 'GET', `${ROUTES}${query}`);
    const idsOf = async (query: string) =>
      (await list(query)).subject_routes.map(({ subject_id }: { subject_id: string }) => subject_id);
    try {
      const planId = await own.makePlan();
      const { account_id } = await own.makeRoute({ subject_id: 'a' });
      await own.makeRoute({ subject_id: 'b', account_id, usage_limit_plan_id: planId });
      await own.makeRoute({ subject_type: 'key', subject_id: 'c', usage_limit_plan_id: planId });
      await own.makeRoute({ subject_type: 'key', subject_id: '*', account_id });
      expect(await idsOf('')).toEqual(['*', 'c', 'b', 'a']);
      expect(await idsOf('?subject_type=key')).toEqual(['*', 'c']);
      expect(await idsOf('?subject_id=*')).toEqual(['*']);
      expect(await idsOf(`?account_id=${account_id}`)).toEqual(['*', 'b', 'a']);
      expect(await idsOf(`?usage_limit_plan_id=${planId}`)).toEqual(['c', 'b']);
      expect(await idsOf(`?usage_limit_plan_id=${planId}&account_id=${account_id}`)).toEqual(['b']);
      expect(await idsOf('?subject_type=key&subject_id=a')).toEqual([]);
      const { subject_routes: page, ...rest } = await list('?limit=2&offset=1');
      expect(page.map(({ subject_id }: { subject_id: string }) => subject_id)).toEqual(['c', 'b']);
      expect(rest).toEqual({ total_count: 4, limit: 2, offset: 1 });
      for (const query of ['?limit=101', '?subject_type=A', '?subject_id=', '?colour=red']) {
        await own.must(400, 'GET', `${ROUTES}${query}`);
      }
    } finally {
      await own.close();
    }
  });
});

it('records who changed what', async () => {
  const own = await createManagementApi();
  try {
    const { id, account_id } = await own.makeRoute();
    await own.must(200, 'PUT', `${ROUTES}/${id}`, { timezone: 'Asia/Tokyo' });
    await own.must(204, 'DELETE', `${ROUTES}/${id}`);
    await own.must(404, 'DELETE', `${ROUTES}/${id}`);
    expect(await auditedActions(own.postgres)).toEqual([
      ['account.create', { name: 'user u1' }],
      ['subject_route.create', { subject_type: 'user', subject_id: 'u1', account_id }],
      ['subject_route.update', { timezone: 'Asia/Tokyo' }],
      ['subject_route.delete', { subject_type: 'user', subject_id: 'u1' }],
    ]);
  } finally {
    await own.close();
  }
});
