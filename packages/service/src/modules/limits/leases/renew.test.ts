import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLimit, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls } from './lease-calls.testing.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
});
afterAll(() => api.close());

describe('a renewal', () => {
  it('lets a lease live from now on, and changes nothing else', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'renewed', amount: '10' });
    const { warnings: _, ...unchanged } = await calls.grant(subjectId, { amount: '6', ttl_seconds: 60 });
    api.clock.advanceMs(59_000);
    const renewed = await calls.renew(unchanged.id, 30);
    expect([renewed.status, renewed.json()]).toEqual([
      200,
      { ...unchanged, expires_at: unchanged.expires_at + 29 },
    ]);
    api.clock.advanceMs(29_000);
    await api.expiry.sweep();
    expect((await calls.get(unchanged.id)).json()).toMatchObject({ status: 'active', remaining_amount: '6' });
    expect(await calls.reservedOf(subjectId)).toEqual([['racl_renewed', '6']]);
    api.clock.advanceMs(1_000);
    await api.expiry.sweep();
    expect(await calls.reservedOf(subjectId)).toEqual([['racl_renewed', '0']]);
  });

  it('can also make its life shorter', async () => {
    const { id, created_at: createdAt } = await calls.grant('nobody', { amount: '1', ttl_seconds: 600 });
    expect((await calls.renew(id, 1)).json()).toMatchObject({ expires_at: createdAt + 1 });
    api.clock.advanceMs(1_000);
    expect((await calls.get(id)).json()).toMatchObject({ status: 'expired' });
  });

  it('of a lease that has ended is refused, whether or not a job has ended it', async () => {
    const closed = await calls.grant('nobody', { amount: '1' });
    await calls.close(closed.id);
    const due = await calls.grant('nobody', { amount: '1', ttl_seconds: 1 });
    api.clock.advanceMs(1_000);
    for (const { id } of [closed, due]) {
      const answer = await calls.renew(id, 60);
      expect([answer.status, answer.json().code]).toEqual([409, 'lease_not_active']);
    }
    await api.expiry.sweep();
    expect((await calls.renew(due.id, 60)).status).toBe(409);
    expect((await calls.renew(`bl_${'0'.repeat(32)}`, 60)).status).toBe(404);
  });

  it('and a close at once leave the lease closed, in whatever order they come', async () => {
    const { id } = await calls.grant('nobody', { amount: '1' });
    const answers = await Promise.all([calls.renew(id, 10), calls.close(id), calls.renew(id, 10)]);
    expect([200, 409]).toContain(answers[0]?.status);
    expect(answers[1]?.json()).toMatchObject({ status: 'closed', remaining_amount: '0' });
    expect((await calls.get(id)).json()).toMatchObject({ status: 'closed' });
    expect((await calls.renew(id, 10)).status).toBe(409);
  });
});
