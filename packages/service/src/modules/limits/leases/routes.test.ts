import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLimit, setUsed, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls } from './lease-calls.testing.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
});
afterAll(() => api.close());

describe('an Idempotency-Key', () => {
  const send = (key: string, body: object) =>
    api.app.inject({
      method: 'POST',
      url: `${api.url}/budget-leases`,
      headers: {
        authorization: `Bearer ${api.serviceKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      payload: { subject_type: 'user', currency: 'USD', ttl_seconds: 60, ...body },
    });

  it('makes one lease of any number of requests at once', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'k1', amount: '10' });
    const body = { subject_id: subjectId, amount: '6' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => send('once', body)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(201));
    expect(new Set(answers.map(({ body: text }) => text)).size).toBe(1);
    // Another spelling of the same amount.
    expect((await send('once', { ...body, amount: 6.0 })).body).toBe(answers[0]?.body);
    const other = await send('once', { ...body, amount: '1' });
    expect([other.statusCode, other.json().code]).toEqual([409, 'idempotency_key_conflict']);
    expect(await calls.reservedOf(subjectId)).toEqual([['racl_k1', '6']]);
  });

  it('of a refused request is free again', async () => {
    const { subjectId, route } = await calls.makeSubject();
    const ruleNo = await makeLimit(api, route, { key: 'k2', amount: '10', period: 'lifetime' });
    await setUsed(api, ruleNo, { startS: 0, limit: '10' }, '10', subjectId);
    const body = { subject_id: subjectId, amount: '1' };
    expect((await send('later', body)).statusCode).toBe(409);
    await setUsed(api, ruleNo, { startS: 0, limit: '10' }, '9', subjectId);
    expect((await send('later', body)).statusCode).toBe(201);
  });
});

describe('requests', () => {
  it('are refused unless they say all that is needed, and nothing else', async () => {
    for (const wrong of [
      { amount: '0' },
      { amount: '-1' },
      { amount: 'x' },
      { amount: '0.0000000000000000001' },
      { amount: '1', ttl_seconds: 0 },
      { amount: '1', ttl_seconds: 86_401 },
      { amount: '1', ttl_seconds: 1.5 },
      { amount: '1', ttl_seconds: '60' },
      { amount: '1', currency: 'usd' },
      { amount: '1', metric: '' },
      { amount: '1', subject_type: 'User' },
      { amount: '1', subject_id: '' },
      { amount: '1', status: 'active' },
      {},
    ]) {
      const { status, json } = await calls.ask('nobody', wrong);
      expect([wrong, status, json().code]).toEqual([wrong, 400, 'invalid_request']);
    }
  });

  it("answer for another tenant's or project's lease as for one that does not exist, byte for byte", async () => {
    const { id } = await calls.grant('nobody', { amount: '1' });
    const sibling = `/v1/projects/${await api.makeProject(api.tenantId)}/budget-leases`;
    const tenantId = await api.makeTenant();
    const foreign = `/v1/projects/${await api.makeProject(tenantId)}/budget-leases`;
    const key = await api.makeKey(tenantId, ['tenant:admin']);
    for (const [method, end] of [
      ['GET', ''],
      ['POST', '/close'],
      ['POST', '/renew'],
    ] as const) {
      const body = end === '/renew' ? { ttl_seconds: 1 } : undefined;
      const absent = await api.call(method, `${foreign}/bl_${'0'.repeat(32)}${end}`, body, key);
      expect(absent.status).toBe(404);
      for (const url of [foreign, sibling]) {
        const answer = await api.call(method, `${url}/${id}${end}`, body);
        expect([answer.status, answer.text]).toEqual([404, absent.text]);
      }
    }
    expect((await calls.get(id)).json()).toMatchObject({ status: 'active' });
    const list = await api.call('GET', `${sibling}?subject_type=user&subject_id=nobody`);
    expect(list.json()).toMatchObject({ budget_leases: [], total_count: 0 });
  });

  it('list the leases of a subject, newest first, by what they are now', async () => {
    const ids: string[] = [];
    for (const ttl of [1, 100, 100])
      ids.push((await calls.grant('lister', { amount: '1', ttl_seconds: ttl })).id);
    await calls.close(ids[1] as string);
    api.clock.advanceMs(1_000);
    const list = async (query: string) => {
      const url = `${api.url}/budget-leases?subject_type=user&subject_id=lister${query}`;
      const { budget_leases: leases, total_count: total } = (await api.call('GET', url)).json();
      return [leases.map(({ id }: { id: string }) => ids.indexOf(id)), total];
    };
    expect(await list('')).toEqual([[2, 1, 0], 3]);
    expect(await list('&limit=1&offset=1')).toEqual([[1], 3]);
    for (const sweep of [false, true]) {
      if (sweep) await api.expiry.sweep();
      expect(await list('&status=active')).toEqual([[2], 1]);
      expect(await list('&status=closed')).toEqual([[1], 1]);
      expect(await list('&status=expired')).toEqual([[0], 1]);
    }
  });

  it('need usage:ingest to change and usage_control:read to look', async () => {
    const [ingest, read] = await Promise.all([
      api.makeKey(api.tenantId, ['usage:ingest']),
      api.makeKey(api.tenantId, ['usage_control:read']),
    ]);
    const body = { subject_type: 'user', subject_id: 'nobody', amount: '1', currency: 'USD', ttl_seconds: 1 };
    const url = `${api.url}/budget-leases`;
    expect((await api.call('POST', url, body, read)).status).toBe(403);
    const { id } = (await api.call('POST', url, body, ingest)).json();
    expect((await api.call('GET', `${url}/${id}`, undefined, ingest)).status).toBe(403);
    expect((await api.call('GET', `${url}/${id}`, undefined, read)).status).toBe(200);
    expect((await api.call('POST', `${url}/${id}/renew`, { ttl_seconds: 1 }, read)).status).toBe(403);
    expect((await api.call('POST', `${url}/${id}/close`, undefined, read)).status).toBe(403);
    expect((await api.call('POST', `${url}/${id}/close`, undefined, ingest)).status).toBe(200);
  });
});
