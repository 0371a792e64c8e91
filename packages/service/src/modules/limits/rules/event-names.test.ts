import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProjectDb } from '../../../platform/postgres/index.js';
import { eventsOfRules } from './event-name-store.js';
import {
  createManagementApi,
  type ManagementApi,
  ruleOf,
  UNKNOWN_SUBJECT_TYPE,
} from './management.testing.js';

let api: ManagementApi;

beforeAll(async () => {
  api = await createManagementApi();
});
afterAll(() => api.close());

describe('the events of rules', () => {
  it('are those of plan rules, be they drafts, and of direct limits of the project, the asked ones first', async () => {
    await api.makePlan([ruleOf({ webhook_event: 'plan.event' })], false);
    await api.makePlan([ruleOf({ webhook_event: 'other.event' }), ruleOf({ limit_key: 'plain' })]);
    const { id } = await api.makeRoute();
    const limit = ruleOf({ webhook_event: 'direct.event' });
    await api.must(201, 'POST', `/subject-routes/${id}/limits`, limit);
    const names = ['plan.event', 'direct.event', 'no.event'];
    const { tenantId, projectId } = api;
    const ofProject = (owner: { tenantId: string; projectId: string }) =>
      eventsOfRules(new ProjectDb(api.postgres.db, owner), names);
    expect(await ofProject({ tenantId, projectId })).toEqual(['direct.event', 'plan.event', 'other.event']);
    expect(await ofProject({ tenantId, projectId: await api.makeProject(tenantId) })).toEqual([]);
    expect(await ofProject({ tenantId: await api.makeTenant(), projectId })).toEqual([]);
  });
});

describe('a route that is saved', () => {
  it('warns of a subject type that neither usage nor extractors have', async () => {
    const subject = { subject_type: UNKNOWN_SUBJECT_TYPE, subject_id: '*' };
    const created = await api.must(201, 'POST', '/subject-routes', subject);
    expect(created.warnings).toEqual([
      {
        code: 'unknown_subject_type',
        name: UNKNOWN_SUBJECT_TYPE,
        message: expect.stringMatching(/Did you mean `type`\?$/),
      },
    ]);
    const url = `/subject-routes/${created.id}`;
    expect((await api.must(200, 'PUT', url, { timezone: 'Asia/Tokyo' })).warnings).toEqual(created.warnings);
    expect((await api.must(200, 'PUT', url, { subject_type: 'user' })).warnings).toEqual([]);
    expect(await api.must(200, 'GET', url)).not.toHaveProperty('warnings');
  });
});
