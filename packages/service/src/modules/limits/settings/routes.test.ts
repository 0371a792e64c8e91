import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestLimits, makeRoute, type TestLimits } from '../check/realtime.testing.js';
import { auditedActions, createManagementApi, type ManagementApi } from '../rules/management.testing.js';

describe('the settings of a project', () => {
  let api: ManagementApi;
  beforeAll(async () => {
    api = await createManagementApi();
  });
  afterAll(() => api.close());

  it('are shown before they are changed, keep what is left out, and are audited', async () => {
    expect(await api.must(200, 'GET', '/settings')).toEqual({ unknown_subjects: 'allow' });
    const deny = { unknown_subjects: 'deny' };
    expect(await api.must(200, 'PUT', '/settings', deny)).toEqual(deny);
    expect(await api.must(200, 'PUT', '/settings', {})).toEqual(deny);
    expect(await api.must(200, 'GET', '/settings')).toEqual(deny);
    await api.must(400, 'PUT', '/settings', { unknown_subjects: 'maybe' });
    await api.must(400, 'PUT', '/settings', { other: 1 });
    expect(await auditedActions(api.postgres)).toEqual([['project_settings.update', deny]]);
  });

  it('belong to one project, and need the permission to change limits', async () => {
    const other = await api.makeProject(api.tenantId);
    expect((await api.call('GET', `/v1/projects/${other}/settings`)).json()).toEqual({
      unknown_subjects: 'allow',
    });
    const reader = await api.makeKey(api.tenantId, ['usage_control:read']);
    for (const method of ['GET', 'PUT'] as const) {
      const body = method === 'PUT' ? {} : undefined;
      expect((await api.call(method, `${api.url}/settings`, body, reader)).status).toBe(403);
    }
  });
});

describe('a subject without a route', () => {
  let api: TestLimits;
  beforeAll(async () => {
    api = await createTestLimits();
    await makeRoute(api, { id: 'ra_known', subjectId: 'known' });
  });
  afterAll(() => api.close());

  const set = (unknownSubjects: string) =>
    api.postgres.pool.query(
      `insert into project_settings values ($1, $2, $3)
      on conflict (project_id) do update set unknown_subjects = excluded.unknown_subjects`,
      [api.tenantId, api.projectId, unknownSubjects],
    );
  const check = async (subjectId: string) => {
    const body = { subject_type: 'user', subject_id: subjectId };
    const { warnings, ...answer } = (
      await api.call('POST', `${api.url}/subject/realtime/check`, body)
    ).json();
    return [answer, warnings.length];
  };
  const lease = async (subjectId: string, headers = {}) => {
    const body = {
      subject_type: 'user',
      subject_id: subjectId,
      amount: '1',
      currency: 'USD',
      ttl_seconds: 60,
    };
    const answer = await api.call('POST', `${api.url}/budget-leases`, body, undefined, headers);
    return [answer.status, answer.json().code];
  };

  it('may do anything, until the project denies it; one with a route is not concerned', async () => {
    const allowed = { allowed: true, blocked_by: [] };
    const key = { 'idempotency-key': 'before' };
    expect(await check('new')).toEqual([allowed, 1]);
    expect(await lease('new', key)).toEqual([201, undefined]);
    await set('deny');
    expect(await check('new')).toEqual([{ allowed: false, blocked_by: [], reason: 'unknown_subject' }, 1]);
    expect(await lease('new')).toEqual([409, 'unknown_subject']);
    expect(await lease('new', key)).toEqual([201, undefined]);
    expect([await check('known'), await lease('known')]).toEqual([
      [allowed, 0],
      [201, undefined],
    ]);
    await set('allow');
    expect([await check('new'), await lease('new')]).toEqual([
      [allowed, 1],
      [201, undefined],
    ]);
  });

  it('of another project is not denied', async () => {
    await set('deny');
    const project = await api.makeProject(api.tenantId);
    const body = { subject_type: 'user', subject_id: 'new' };
    const answer = await api.call('POST', `/v1/projects/${project}/subject/realtime/check`, body);
    expect(answer.json()).toMatchObject({ allowed: true });
  });
});
