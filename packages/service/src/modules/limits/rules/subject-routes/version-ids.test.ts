import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementApi, type ManagementApi } from '../management.testing.js';

let api: ManagementApi;
const ROUTES = '/subject-routes';

beforeAll(async () => {
  api = await createManagementApi();
});
afterAll(() => api.close());

const post = (body: object, status = 201) => api.must(status, 'POST', ROUTES, body);

describe('the id of a version', () => {
  it('takes the version in force for it, as lists and publish name it, and says of others what they are', async () => {
    const planId = await api.makePlan();
    const first = await api.must(200, 'GET', `/usage-limit-plans/${planId}`);
    const bind = (usage_limit_plan_id: string, status = 201) =>
      post({ subject_type: 'version', subject_id: `${made++}`, usage_limit_plan_id }, status);
    let made = 0;
    const route = await bind(first.published.id);
    expect(route.usage_limit_plan_id).toBe(planId);
    const unbound = { usage_limit_plan_id: null };
    await api.must(200, 'PUT', `${ROUTES}/${route.id}`, unbound);
    const rebound = await api.must(200, 'PUT', `${ROUTES}/${route.id}`, {
      usage_limit_plan_id: first.published.id,
    });
    expect(rebound.usage_limit_plan_id).toBe(planId);
    expect(await api.must(200, 'GET', `/usage-limit-plans/${first.published.id}`)).toEqual(first);

    const { draft } = await api.must(200, 'PUT', `/usage-limit-plans/${planId}`, { title: 'Second' });
    expect((await bind(draft.id, 400)).details[0].message).toBe(
      `expected the id of a plan: ${draft.id} is the draft of ${planId}, which is at revision 1`,
    );
    const second = await api.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
    expect((await bind(second.id)).usage_limit_plan_id).toBe(planId);
    expect((await bind(first.published.id, 400)).details).toEqual([
      {
        path: 'usage_limit_plan_id',
        message: `expected the id of a plan: ${first.published.id} is revision 1 of ${planId}, which is at revision 2`,
      },
    ]);
  });

  it('of the version in force or the draft changes, publishes, archives and restores the plan', async () => {
    const PLANS = '/usage-limit-plans';
    const planId = await api.makePlan([], false);
    const { usage_limit_plans: listed } = await api.must(200, 'GET', `${PLANS}?search=${planId}`);
    const draftId = listed[0].id;
    const changed = await api.must(200, 'PUT', `${PLANS}/${draftId}`, { title: 'By its draft' });
    expect(changed).toMatchObject({ id: planId, title: 'By its draft' });
    const first = await api.must(200, 'POST', `${PLANS}/${draftId}/publish`);
    expect(first).toMatchObject({ plan_id: planId, revision: 1 });
    await api.must(200, 'PUT', `${PLANS}/${first.id}`, { title: 'By its version' });
    const second = await api.must(200, 'POST', `${PLANS}/${first.id}/publish`);
    expect(second).toMatchObject({ plan_id: planId, revision: 2, title: 'By its version' });

    const details = [
      {
        path: 'id',
        message: `expected the id of a plan: ${first.id} is revision 1 of ${planId}, which is at revision 2`,
      },
    ];
    for (const [method, path, body] of [
      ['PUT', '', { title: 'Old' }],
      ['POST', '/publish', undefined],
      ['POST', '/archive', undefined],
      ['POST', '/restore', undefined],
    ] as const) {
      expect(await api.must(400, method, `${PLANS}/${first.id}${path}`, body)).toMatchObject({ details });
    }
    expect(await api.must(200, 'POST', `${PLANS}/${second.id}/archive`)).toMatchObject({ id: planId });
    const archived = await api.must(200, 'POST', `${PLANS}/${second.id}/archive`);
    expect(archived).toMatchObject({ id: planId, status: 'archived' });
    const restored = await api.must(200, 'POST', `${PLANS}/${second.id}/restore`);
    expect(restored).toMatchObject({ id: planId, status: 'published', title: 'By its version' });
  });

  it('of any version finds the versions and the routes of the plan', async () => {
    const planId = await api.makePlan();
    const { published } = await api.must(200, 'GET', `/usage-limit-plans/${planId}`);
    const { id } = await post({ subject_type: 'found', subject_id: '1', usage_limit_plan_id: planId });
    await api.must(200, 'PUT', `/usage-limit-plans/${planId}`, { title: 'Next' });
    const next = await api.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
    for (const named of [planId, published.id, next.id]) {
      const { versions } = await api.must(200, 'GET', `/usage-limit-plans/${named}/versions`);
      expect(versions.map(({ revision }: { revision: number }) => revision)).toEqual([2, 1]);
      const { subject_routes: bound } = await api.must(200, 'GET', `${ROUTES}?usage_limit_plan_id=${named}`);
      expect(bound).toMatchObject([{ id }]);
    }
  });

  it('names a plan of another project by its version just as an unknown one', async () => {
    const otherUrl = `/v1/projects/${await api.makeProject(api.tenantId)}`;
    const plan = (await api.call('POST', `${otherUrl}/usage-limit-plans`, { name: 'p', title: 'p' })).json();
    const { id } = (await api.call('POST', `${otherUrl}/usage-limit-plans/${plan.id}/publish`)).json();
    const subject = { subject_type: 'user', subject_id: 'curious' };
    expect(await post({ ...subject, usage_limit_plan_id: id }, 400)).toEqual(
      await post({ ...subject, usage_limit_plan_id: 'ulpv_none' }, 400),
    );
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/versions'],
      ['POST', '/archive'],
    ] as const) {
      expect(await api.must(404, method, `/usage-limit-plans/${id}${path}`)).toEqual(
        await api.must(404, method, `/usage-limit-plans/ulpv_none${path}`),
      );
    }
  });
});
