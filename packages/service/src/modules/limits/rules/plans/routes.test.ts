import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../../../testing/api.js';
import { auditedActions, createManagementApi, type ManagementApi, ruleOf } from '../management.testing.js';

let api: ManagementApi;
beforeAll(async () => {
  api = await createManagementApi();
});
afterAll(() => api.close());

const PLANS = '/usage-limit-plans';
const plan = (id: string) => api.must(200, 'GET', `${PLANS}/${id}`);
const put = (id: string, body: object, status = 200) => api.must(status, 'PUT', `${PLANS}/${id}`, body);
const publish = (id: string, status = 200) => api.must(status, 'POST', `${PLANS}/${id}/publish`);
const archive = (id: string, status = 200) => api.must(status, 'POST', `${PLANS}/${id}/archive`);
const restore = (id: string, status = 200) => api.must(status, 'POST', `${PLANS}/${id}/restore`);
const versions = async (id: string) => (await api.must(200, 'GET', `${PLANS}/${id}/versions`)).versions;

describe('create', () => {
  it('returns the management view of a draft', async () => {
    const body = { name: 'free', title: 'Free', description: 'For trying', rules: [ruleOf()] };
    expect(await api.must(201, 'POST', PLANS, body)).toEqual({
      id: expect.stringMatching(/^ulp_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      project_id: api.projectId,
      name: 'free',
      title: 'Free',
      description: 'For trying',
      status: 'draft',
      current_revision: 0,
      created_at: TEST_NOW_S,
      updated_at: TEST_NOW_S,
    });
  });

  it('takes a plan without rules and description', async () => {
    const { id, description } = await api.must(201, 'POST', PLANS, { name: 'bare', title: 'Bare' });
    expect(description).toBe('');
    expect((await plan(id)).draft.rules).toEqual([]);
  });

  it('refuses a name that another plan has, an archived one too', async () => {
    const body = { name: 'twice', title: 'Twice' };
    const { id } = await api.must(201, 'POST', PLANS, body);
    const refusal = (message: string) => ({
      code: 'name_taken',
      error: `${message}.`,
      details: [{ path: 'name', message }],
    });
    expect(await api.must(409, 'POST', PLANS, body)).toMatchObject(refusal(`${id} already has this name`));
    await archive(id);
    expect(await api.must(409, 'POST', PLANS, body)).toMatchObject(
      refusal(`${id}, which is archived, already has this name`),
    );
    const elsewhere = `/v1/projects/${await api.makeProject(api.tenantId)}${PLANS}`;
    expect((await api.call('POST', elsewhere, body)).status).toBe(201);
  });

  it('takes a name once, however many ask at a time', async () => {
    const body = { name: 'raced', title: 'Raced' };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => api.call('POST', `${api.url}${PLANS}`, body)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });

  it.each([
    ['no name', { title: 'x' }, 'name'],
    ['a name in capitals', { name: 'Pro', title: 'x' }, 'name'],
    ['a name that begins with a digit', { name: '1a', title: 'x' }, 'name'],
    ['a long name', { name: 'a'.repeat(65), title: 'x' }, 'name'],
    ['no title', { name: 'x' }, 'title'],
    ['a blank title', { name: 'x', title: ' ' }, 'title'],
    ['a title with NUL', { name: 'x', title: 'a\0' }, 'title'],
    ['a long description', { name: 'x', title: 'x', description: 'x'.repeat(2_001) }, 'description'],
    ['a status', { name: 'x', title: 'x', status: 'published' }, 'status'],
    ['a revision', { name: 'x', title: 'x', current_revision: 1 }, 'current_revision'],
    ['an id of a rule', { name: 'x', title: 'x', rules: [{ ...ruleOf(), id: 'ulpr_1' }] }, 'rules[0].id'],
    [
      'too many rules',
      {
        name: 'x',
        title: 'x',
        rules: Array.from({ length: 101 }, (_, index) => ruleOf({ limit_key: `k${index}` })),
      },
      'rules',
    ],
  ])('refuses %s', async (_, body, path) => {
    const refused = await api.must(400, 'POST', PLANS, body);
    expect(refused.code).toBe('invalid_request');
    expect(refused.details[0].path).toBe(path);
  });
});

describe('update', () => {
  it('changes what is sent of the draft and nothing else', async () => {
    const id = await api.makePlan([ruleOf()], false);
    const [before] = (await plan(id)).draft.rules;
    api.clock.advanceMs(5_000);
    const renamed = await put(id, { title: 'Renamed' });
    expect(renamed).toMatchObject({
      title: 'Renamed',
      status: 'draft',
      current_revision: 0,
      published: null,
    });
    expect(renamed.draft).toMatchObject({ title: 'Renamed', revision: 0, rules: [{ id: before.id }] });
    const changed = await put(id, { rules: [ruleOf({ limit_amount: '5' }), ruleOf({ limit_key: 'other' })] });
    expect(changed.draft.rules).toMatchObject([
      { id: before.id, limit_amount: '5', created_at: before.created_at },
      { limit_key: 'other', created_at: api.clock.nowMs() / 1000 },
    ]);
    expect((await put(id, { description: 'x' })).description).toBe('x');
    expect((await put(id, { description: '' })).description).toBe('');
    expect((await put(id, { rules: [] })).draft.rules).toEqual([]);
  });

  it('opens a draft next to the active version', async () => {
    const id = await api.makePlan([ruleOf()]);
    const opened = await put(id, {});
    expect(opened).toMatchObject({ status: 'published', current_revision: 1 });
    expect(opened.draft).toMatchObject({ revision: 0, status: 'draft', published_at: null });
    expect(opened.draft.rules[0]).toMatchObject({ limit_key: 'spend', limit_amount: '100' });
    expect(opened.draft.rules[0].id).not.toBe(opened.published.rules[0].id);
    await put(id, { rules: [ruleOf({ limit_amount: '7' })] });
    const { published, draft } = await plan(id);
    expect([published.rules[0].limit_amount, draft.rules[0].limit_amount]).toEqual(['100', '7']);
  });

  it('refuses a name, an unknown plan and an archived one', async () => {
    const id = await api.makePlan();
    expect((await put(id, { name: 'other' }, 400)).details[0].path).toBe('name');
    expect((await put('ulp_none', { title: 'x' }, 404)).code).toBe('not_found');
    await archive(id);
    expect((await put(id, { title: 'x' }, 409)).code).toBe('usage_limit_plan_archived');
  });
});

describe('publish', () => {
  it('returns the new version', async () => {
    const id = await api.makePlan([ruleOf({ notify_at: [50, 90], webhook_event: 'spend.high' })], false);
    api.clock.advanceMs(1_000);
    const at = api.clock.nowMs() / 1000;
    const { name, title } = await plan(id);
    expect(await publish(id)).toEqual({
      id: expect.stringMatching(/^ulpv_[0-9a-f]{32}$/),
      tenant_id: api.tenantId,
      project_id: api.projectId,
      plan_id: id,
      name,
      title,
      description: '',
      revision: 1,
      status: 'published',
      published_at: at,
      created_at: at - 1,
      updated_at: at,
      rules: [
        {
          id: expect.stringMatching(/^ulpr_[0-9a-f]{32}$/),
          plan_version_id: expect.stringMatching(/^ulpv_/),
          ...ruleOf({ notify_at: [50, 90], webhook_event: 'spend.high' }),
          created_at: at - 1,
          updated_at: at - 1,
        },
      ],
    });
    expect(await plan(id)).toMatchObject({ status: 'published', current_revision: 1, draft: null });
  });

  it('numbers revisions without a gap and never changes one', async () => {
    const id = await api.makePlan([ruleOf({ limit_amount: '1' })]);
    for (const amount of ['2', '3']) {
      await put(id, { rules: [ruleOf({ limit_amount: amount })] });
      await publish(id);
    }
    await put(id, { rules: [] });
    const all: { revision: number; published_at: number; rules: { limit_amount: string }[] }[] =
      await versions(id);
    expect(all.map(({ revision, rules }) => [revision, rules[0]?.limit_amount])).toEqual([
      [0, undefined],
      [3, '3'],
      [2, '2'],
      [1, '1'],
    ]);
  });

  it('refuses when there is no draft, when it is archived, and when it does not exist', async () => {
    const id = await api.makePlan();
    expect((await publish(id, 409)).code).toBe('nothing_to_publish');
    await put(id, {});
    await archive(id);
    expect((await publish(id, 409)).code).toBe('usage_limit_plan_archived');
    expect((await publish('ulp_none', 404)).code).toBe('not_found');
  });

  it('publishes a draft once, however many ask at a time', async () => {
    const id = await api.makePlan([], false);
    const url = `${api.url}${PLANS}/${id}/publish`;
    const answers = await Promise.all(Array.from({ length: 6 }, () => api.call('POST', url)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect((await versions(id)).length).toBe(1);
  });

  it('takes no fields', async () => {
    const id = await api.makePlan([], false);
    for (const action of ['publish', 'archive', 'restore']) {
      await api.must(400, 'POST', `${PLANS}/${id}/${action}`, { force: true });
      await api.must(200, 'POST', `${PLANS}/${id}/${action}`, {});
    }
  });
});

describe('archive and restore', () => {
  it.each([
    ['a published plan', true, 'published'],
    ['a draft', false, 'draft'],
  ])('of %s: there and back, as often as one likes', async (_, isPublished, status) => {
    const id = await api.makePlan([ruleOf()], isPublished);
    const before = await plan(id);
    for (let times = 0; times < 2; times += 1) expect((await archive(id)).status).toBe('archived');
    const shown = await versions(id);
    expect(shown.map((version: { status: string }) => version.status)).toEqual(['archived']);
    for (let times = 0; times < 2; times += 1) expect((await restore(id)).status).toBe(status);
    const after = await plan(id);
    expect({ ...after, updated_at: 0 }).toEqual({ ...before, updated_at: 0 });
    const { published, draft, ...view } = after;
    expect(await restore(id)).toEqual(view);
  });

  it('refuse an unknown plan', async () => {
    await archive('ulp_none', 404);
    await restore('ulp_none', 404);
  });
});

it('records who changed what, once for each change', async () => {
  const own = await createManagementApi();
  try {
    const id = await own.makePlan([ruleOf()]);
    await own.must(200, 'PUT', `${PLANS}/${id}`, { title: 'New' });
    for (const action of ['archive', 'archive', 'restore', 'restore']) {
      await own.must(200, 'POST', `${PLANS}/${id}/${action}`);
    }
    await own.must(409, 'POST', PLANS, { name: 'plan-1', title: 'x' });
    const actions = await auditedActions(own.postgres);
    expect(actions.map(([action]) => action)).toEqual(
      ['create', 'publish', 'update', 'archive', 'restore'].map((verb) => `usage_limit_plan.${verb}`),
    );
    expect(actions[1]?.[1]).toMatchObject({
      revision: 1,
      rules: [{ limit_key: 'spend', limit_amount: '100' }],
    });
  } finally {
    await own.close();
  }
});
