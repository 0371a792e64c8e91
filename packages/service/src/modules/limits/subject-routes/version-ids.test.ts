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

  it('names a plan of another project by its version just as an unknown one', async () => {
    const otherUrl = `/v1/projects/${await api.makeProject(api.tenantId)}`;
    const plan = (await api.call('POST', `${otherUrl}/usage-limit-plans`, { name: 'p', title: 'p' })).json();
    const { id } = (await api.call('POST', `${otherUrl}/usage-limit-plans/${plan.id}/publish`)).json();
    const subject = { subject_type: 'user', subject_id: 'curious' };
    expect(await post({ ...subject, usage_limit_plan_id: id }, 400)).toEqual(
      await post({ ...subject, usage_limit_plan_id: 'ulpv_none' }, 400),
    );
    expect(await api.must(404, 'GET', `/usage-limit-plans/${id}`)).toEqual(
      await api.must(404, 'GET', '/usage-limit-plans/ulpv_none'),
    );
  });
});
