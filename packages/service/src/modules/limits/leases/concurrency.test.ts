import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLimit, makeRaise, makeRoute, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls } from './lease-calls.testing.js';
import { recountReservations } from './recount-store.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
});
afterAll(() => api.close());

const CONCURRENCY = { measure: 'concurrency', period: 'lifetime' } as const;

async function limitOf(subjectId: string, key: string) {
  const limits: { limit_key: string }[] = await calls.limitsOf(subjectId);
  return limits.find(({ limit_key }) => limit_key === key);
}

const check = async (subjectId: string, asked: object = {}) =>
  (
    await api.call('POST', `${api.url}/subject/realtime/check`, {
      subject_type: 'user',
      subject_id: subjectId,
      ...asked,
    })
  ).json();

const differences = async () => (await recountReservations(api.postgres, 10)).differences;

describe('a limit on concurrent work', () => {
  it('counts active leases, whatever they hold, and has no period', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'two', amount: '2', ...CONCURRENCY });
    expect(await limitOf(subjectId, 'two')).toMatchObject({ used_amount: '0', window_id: 'concurrency' });
    const first = await calls.grant(subjectId, { amount: '100' });
    await calls.grant(subjectId, { amount: '0.5', currency: 'EUR' });
    const full = await limitOf(subjectId, 'two');
    expect(full).toMatchObject({
      used_amount: '2',
      reserved_amount: '0',
      remaining_amount: '0',
      exceeded: true,
    });
    expect(full).not.toHaveProperty('period');
    expect(full).not.toHaveProperty('next_reset_at');
    const refused = await calls.ask(subjectId, { amount: '1' });
    expect([refused.status, refused.json()]).toMatchObject([
      409,
      {
        code: 'limit_exceeded',
        error: 'Would exceed 1 limit: two (2 of 2 leases used or reserved).',
        details: [
          { limit_key: 'two', used_amount: '2', reserved_amount: '0', asked_amount: '1', limit_amount: '2' },
        ],
      },
    ]);
    expect(await check(subjectId)).toMatchObject({ allowed: false, blocked_by: [{ limit_key: 'two' }] });
    await calls.close(first.id);
    expect(await check(subjectId, { metric: 'llm.tokens', quantity: '5' })).toMatchObject({ allowed: true });
    expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(201);
    expect(await differences()).toEqual([]);
  });

  it('does not count leases that were created before it', async () => {
    const { subjectId, route } = await calls.makeSubject();
    const early = await calls.grant(subjectId, { amount: '1' });
    await makeLimit(api, route, { key: 'late', amount: '1', ...CONCURRENCY });
    expect(await limitOf(subjectId, 'late')).toMatchObject({ used_amount: '0' });
    await calls.grant(subjectId, { amount: '1' });
    expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(409);
    await calls.renew(early.id, 60);
    await calls.close(early.id);
    expect(await limitOf(subjectId, 'late')).toMatchObject({ used_amount: '1' });
    expect(await differences()).toEqual([]);
  });

  it('is raised for a time like any other limit', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'more', amount: '1', ...CONCURRENCY });
    await calls.grant(subjectId, { amount: '1' });
    expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(409);
    await makeRaise(api, route, 'more');
    expect(await limitOf(subjectId, 'more')).toMatchObject({ limit_amount: '11', raised_amount: '10' });
    expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(201);
    expect(await differences()).toEqual([]);
  });

  it('gets its slot back when a lease expires', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'one', amount: '1', ...CONCURRENCY });
    await calls.grant(subjectId, { amount: '1', ttl_seconds: 1 });
    expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(409);
    api.clock.advanceMs(1_000);
    await api.expiry.sweep();
    expect(await limitOf(subjectId, 'one')).toMatchObject({ used_amount: '0' });
    expect((await calls.ask(subjectId, { amount: '1' })).status).toBe(201);
    expect(await differences()).toEqual([]);
  });

  it('holds at every level, also against many at once', async () => {
    const team = await makeRoute(api, { id: 'ra_team', subjectId: 'team' });
    await makeLimit(api, team, { key: 'team', amount: '5', ...CONCURRENCY });
    for (const member of ['m1', 'm2', 'm3'])
      await makeRoute(api, { id: `ra_${member}`, subjectId: member, parentId: 'team' });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => calls.ask(`m${(index % 3) + 1}`, { amount: '1' })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(25);
    expect(await limitOf('team', 'team')).toMatchObject({ used_amount: '5', exceeded: true });
    for (const { status, json } of answers) if (status === 201) await calls.close(json().id);
    expect(await limitOf('team', 'team')).toMatchObject({ used_amount: '0' });
    expect(await differences()).toEqual([]);
  });

  it('refuses together with a limit on amounts: both are named, and nothing is held', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'slots', amount: '1', ...CONCURRENCY });
    await makeLimit(api, route, { key: 'spend', amount: '10' });
    await calls.grant(subjectId, { amount: '8' });
    const refused = (await calls.ask(subjectId, { amount: '8' })).json();
    expect(refused.details.map(({ limit_key }: { limit_key: string }) => limit_key).sort()).toEqual([
      'slots',
      'spend',
    ]);
    expect(await limitOf(subjectId, 'spend')).toMatchObject({ reserved_amount: '8' });
    expect(await limitOf(subjectId, 'slots')).toMatchObject({ used_amount: '1' });
  });

  it('is not shown for another time', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'now', amount: '1', ...CONCURRENCY });
    const past = await api.call(
      'GET',
      `${api.url}/subject/realtime/limits?subject_type=user&subject_id=${subjectId}&at=1000`,
    );
    expect(past.json().limits).toEqual([]);
  });
});
