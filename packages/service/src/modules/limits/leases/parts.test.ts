import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stored, usageItem } from '../../../testing/index.js';
import { makeLimit, makeRoute, setWallet, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls } from './lease-calls.testing.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
});
afterAll(() => api.close());

let teams = 0;

/** A team with a limit of 100 and a prepaid wallet, and a user below it with a limit of 50. */
async function makeTeam() {
  teams += 1;
  const [team, user] = [`team${teams}`, `user${teams}`];
  const route = await makeRoute(api, { id: `ra_${team}`, subjectId: team });
  await makeLimit(api, route, { key: team, amount: '100', period: 'lifetime' });
  await setWallet(api, route, { balance: '100' });
  const below = await makeRoute(api, { id: `ra_${user}`, subjectId: user, parentId: team });
  await makeLimit(api, below, { key: user, amount: '50', period: 'lifetime' });
  return { team, user, route, below };
}

const part = (subjectId: string, parentId: string, asked: object) =>
  calls.grant(subjectId, { parent_lease_id: parentId, ...asked });
const askPart = (subjectId: string, parentId: string, asked: object) =>
  calls.ask(subjectId, { parent_lease_id: parentId, ...asked });

async function reserved(...subjectIds: string[]): Promise<string[]> {
  const found = await Promise.all(subjectIds.map((subjectId) => calls.reservedOf(subjectId)));
  return found.map(([limit]) => limit?.[1] ?? '');
}

async function remaining(...ids: string[]): Promise<(string | null)[]> {
  const leases = await Promise.all(ids.map(async (id) => (await calls.get(id)).json()));
  return leases.map(({ remaining_amount: left }) => left);
}

const use = (subjectId: string, leaseId: string, amount: string) =>
  calls.use([
    {
      subject: { type: 'user', id: subjectId },
      budgetLeaseId: leaseId,
      items: [usageItem({ metric: 'm', amount: stored(amount) })],
    },
  ]);

describe('a part of a lease', () => {
  it('is taken from its parent, and is reserved of the levels below only', async () => {
    const { team, user } = await makeTeam();
    const parent = await calls.grant(team, { amount: '40' });
    const child = await part(user, parent.id, { amount: '15' });
    expect(child).toMatchObject({ parent_lease_id: parent.id, amount: '15', account_id: parent.account_id });
    expect(parent.parent_lease_id).toBeNull();
    expect(await remaining(parent.id, child.id)).toEqual(['25', '15']);
    expect(await reserved(team, user)).toEqual(['40', '15']);
    expect(await calls.differences()).toEqual([]);
    await use(user, child.id, '4');
    expect(await remaining(parent.id, child.id)).toEqual(['25', '11']);
    expect((await calls.get(parent.id)).json()).toMatchObject({ used_amount: '4' });
    expect(await reserved(team, user)).toEqual(['36', '11']);
    expect((await calls.close(child.id)).json()).toMatchObject({ status: 'closed', remaining_amount: '0' });
    expect(await remaining(parent.id)).toEqual(['36']);
    expect(await reserved(team, user)).toEqual(['36', '0']);
    expect(await calls.differences()).toEqual([]);
  });

  it('is at most what the parent has left', async () => {
    const { team } = await makeTeam();
    const holds = [
      { amount: '10', currency: 'USD' },
      { quantity: '5', metric: 'm' },
    ];
    const parent = await calls.grant(team, { currency: undefined, holds });
    await part(team, parent.id, { amount: '7' });
    const refused = await askPart(team, parent.id, {
      currency: undefined,
      holds: [
        { quantity: '6', metric: 'm' },
        { amount: '3', currency: 'USD' },
        { amount: '1', currency: 'EUR' },
      ],
    });
    expect([refused.status, refused.json()]).toMatchObject([
      409,
      {
        code: 'lease_exceeded',
        details: [
          { path: 'holds[0].quantity', metric: 'm', available_amount: '5', asked_amount: '6' },
          { path: 'holds[2].amount', currency: 'EUR', available_amount: '0', asked_amount: '1' },
        ],
      },
    ]);
    const plain = await askPart(team, parent.id, { amount: '3.5' });
    expect(plain.json()).toMatchObject({ code: 'lease_exceeded', details: [{ path: 'amount' }] });
    await part(team, parent.id, { amount: '3' });
    expect(await calls.differences()).toEqual([]);
  });

  it('asks the levels below the subject of the parent', async () => {
    const { team, user } = await makeTeam();
    const parent = await calls.grant(team, { amount: '80' });
    const refused = await askPart(user, parent.id, { amount: '51' });
    expect(refused.json()).toMatchObject({
      code: 'limit_exceeded',
      details: [{ level: 0, subject_id: user, asked_amount: '51' }],
    });
    expect(await remaining(parent.id)).toEqual(['80']);
    await part(user, parent.id, { amount: '50' });
    expect(await reserved(team, user)).toEqual(['80', '50']);
  });

  it('may be divided again, and usage beyond it is usage of those above', async () => {
    const { team, user } = await makeTeam();
    const top = await calls.grant(team, { amount: '40' });
    const middle = await part(team, top.id, { amount: '30' });
    const low = await part(user, middle.id, { amount: '20' });
    expect(await remaining(top.id, middle.id, low.id)).toEqual(['10', '10', '20']);
    await use(user, low.id, '25');
    expect(await remaining(top.id, middle.id, low.id)).toEqual(['10', '5', '0']);
    expect(await reserved(team, user)).toEqual(['15', '0']);
    await use(user, low.id, '8');
    expect(await remaining(top.id, middle.id, low.id)).toEqual(['7', '0', '0']);
    const used = [top, middle, low].map(async ({ id }) => (await calls.get(id)).json().used_amount);
    expect(await Promise.all(used)).toEqual(['33', '33', '33']);
    expect(await reserved(team, user)).toEqual(['7', '0']);
    expect(await calls.differences()).toEqual([]);
  });

  it('lowers by refunds what is used of it and of those above, each not below 0', async () => {
    const { team, user } = await makeTeam();
    const parent = await calls.grant(team, { amount: '40' });
    const child = await part(user, parent.id, { amount: '15' });
    const usedOf = async ({ id }: { id: string }) => (await calls.get(id)).json().used_amount;
    const used = () => Promise.all([parent, child].map(usedOf));
    await use(team, parent.id, '5');
    await use(user, child.id, '1');
    expect(await used()).toEqual(['6', '1']);
    await use(user, child.id, '-4');
    expect(await used()).toEqual(['2', '0']);
    await use(user, child.id, '-4');
    expect(await used()).toEqual(['0', '0']);
    await use(user, child.id, '3');
    expect(await used()).toEqual(['3', '3']);
  });

  it('ends with its parent, at every depth', async () => {
    const { team, user } = await makeTeam();
    const top = await calls.grant(team, { amount: '40' });
    const middle = await part(team, top.id, { amount: '40' });
    const low = await part(user, middle.id, { amount: '20' });
    await calls.close(top.id);
    const ended = [top, middle, low].map(async ({ id }) => (await calls.get(id)).json());
    expect(await Promise.all(ended)).toMatchObject(
      [1, 2, 3].map(() => ({ status: 'closed', remaining_amount: '0' })),
    );
    expect(await reserved(team, user)).toEqual(['0', '0']);
    expect(await calls.differences()).toEqual([]);
    const late = await askPart(user, middle.id, { amount: '1' });
    expect([late.status, late.json().code]).toEqual([409, 'lease_not_active']);
  });

  it('never outlives its parent', async () => {
    const { team, user } = await makeTeam();
    const parent = await calls.grant(team, { amount: '40', ttl_seconds: 100 });
    const child = await part(user, parent.id, { amount: '10', ttl_seconds: 600 });
    const low = await part(user, child.id, { amount: '5', ttl_seconds: 90 });
    expect(child.expires_at).toBe(parent.expires_at);
    expect((await calls.renew(child.id, 600)).json()).toMatchObject({ expires_at: parent.expires_at });
    await calls.renew(parent.id, 50);
    const shown = [child, low].map(async ({ id }) => (await calls.get(id)).json().expires_at);
    expect(await Promise.all(shown)).toEqual([parent.expires_at - 50, parent.expires_at - 50]);
    api.clock.advanceMs(50_000);
    await api.expiry.sweep();
    expect(await reserved(team, user)).toEqual(['0', '0']);
    expect((await calls.get(low.id)).json()).toMatchObject({ status: 'expired', remaining_amount: '0' });
    expect(await calls.differences()).toEqual([]);
  });

  it('gives back when it expires before its parent', async () => {
    const { team, user } = await makeTeam();
    const parent = await calls.grant(team, { amount: '40', ttl_seconds: 600 });
    const child = await part(user, parent.id, { amount: '10', ttl_seconds: 20 });
    await part(user, child.id, { amount: '5', ttl_seconds: 10 });
    api.clock.advanceMs(20_000);
    await api.expiry.sweep();
    expect(await remaining(parent.id, child.id)).toEqual(['40', '0']);
    expect(await reserved(team, user)).toEqual(['40', '0']);
    expect(await calls.differences()).toEqual([]);
  });

  it('waits for the next sweep where its parent is locked', async () => {
    const { team } = await makeTeam();
    const parent = await calls.grant(team, { amount: '40', ttl_seconds: 600 });
    const child = await part(team, parent.id, { amount: '10', ttl_seconds: 5 });
    api.clock.advanceMs(5_000);
    const client = await api.postgres.pool.connect();
    await client.query('begin');
    await client.query('select from budget_leases where id = $1 for update', [parent.id]);
    await api.expiry.sweep();
    expect(
      await api.postgres.pool.query('select status from budget_leases where id = $1', [child.id]),
    ).toMatchObject({
      rows: [{ status: 'active' }],
    });
    await client.query('commit');
    client.release();
    await api.expiry.sweep();
    expect(await remaining(parent.id)).toEqual(['40']);
    expect(await calls.differences()).toEqual([]);
  });

  it('takes no slot of a limit on concurrent work', async () => {
    const { team, user, route, below } = await makeTeam();
    const concurrency = { measure: 'concurrency', period: 'lifetime', amount: '1' } as const;
    await makeLimit(api, route, { key: `slots_${team}`, ...concurrency });
    await makeLimit(api, below, { key: `slots_${user}`, ...concurrency });
    const parent = await calls.grant(team, { amount: '40' });
    await part(user, parent.id, { amount: '1' });
    await part(user, parent.id, { currency: undefined, holds: [] });
    const limits: { limit_key: string }[] = await calls.limitsOf(team);
    expect(limits.find(({ limit_key: key }) => key === `slots_${team}`)).toMatchObject({ used_amount: '1' });
    expect(await calls.differences()).toEqual([]);
  });

  it('has the metric and the dimensions of its parent', async () => {
    const { team } = await makeTeam();
    const parent = await calls.grant(team, { amount: '9', metric: 'm', dimensions: { model: 'x' } });
    const child = await part(team, parent.id, { amount: '1', dimensions: { region: 'eu' } });
    expect(child).toMatchObject({ metric: 'm', dimensions: { model: 'x', region: 'eu' } });
    const other = await askPart(team, parent.id, { amount: '1', metric: 'n' });
    expect([other.status, other.json().details[0].path]).toEqual([400, 'metric']);
    const away = await askPart(team, parent.id, { amount: '1', dimensions: { model: 'y' } });
    expect([away.status, away.json().details[0].path]).toEqual([400, 'dimensions.model']);
  });

  it('is refused for a subject that is not below, for another account or project, and for no lease', async () => {
    const { team, user } = await makeTeam();
    const other = await makeTeam();
    const own = `own${teams}`;
    await makeRoute(api, { id: `ra_${own}`, subjectId: own, parentId: team });
    await api.postgres.pool.query('update subject_routes set account_id = $1 where subject_id = $2', [
      `acct_ra_${own}`,
      own,
    ]);
    await api.postgres.pool.query('update limit_revisions set revision = revision + 1');
    const { id } = await calls.grant(team, { amount: '9' });
    const { id: userLease } = await calls.grant(user, { amount: '9' });
    const elsewhere = `/v1/projects/${await api.makeProject(api.tenantId)}/budget-leases`;
    const body = { subject_type: 'user', subject_id: team, amount: '9', currency: 'USD', ttl_seconds: 60 };
    const ofOtherProject = (await api.call('POST', elsewhere, body)).json();
    for (const [subjectId, parentId] of [
      [team, ofOtherProject.id],
      [other.team, id],
      [team, userLease],
      [own, id],
      [team, `bl_${'0'.repeat(32)}`],
    ] as const) {
      const answer = await askPart(subjectId, parentId, { amount: '1' });
      expect([answer.status, answer.json().details]).toMatchObject([400, [{ path: 'parent_lease_id' }]]);
    }
  });

  it('is granted before the parent is closed, and ends with it, or not at all', async () => {
    for (let round = 0; round < 5; round++) {
      const { team, user } = await makeTeam();
      const parent = await calls.grant(team, { amount: '40' });
      const first = await part(team, parent.id, { amount: '5' });
      const [granted] = await Promise.all([
        askPart(user, first.id, { amount: '2' }),
        calls.close(parent.id),
        calls.close(first.id),
        use(team, first.id, '1'),
        api.expiry.sweep(),
      ]);
      expect([201, 409]).toContain(granted.status);
      expect(await reserved(team, user)).toEqual(['0', '0']);
      expect(await calls.differences()).toEqual([]);
      const { rows } = await api.postgres.pool.query(
        `select count(*)::int as active from budget_leases where subject_id = any($1) and status = 'active'`,
        [[team, user]],
      );
      expect(rows).toEqual([{ active: 0 }]);
    }
  });

  it('of a lease without limits works for a subject without a route', async () => {
    const parent = await calls.grant('nobody', { amount: '4' });
    const child = await part('nobody', parent.id, { amount: '3' });
    expect((await askPart('nobody', parent.id, { amount: '2' })).json().code).toBe('lease_exceeded');
    await use('nobody', child.id, '1');
    await calls.close(child.id);
    expect((await calls.get(parent.id)).json()).toMatchObject({ used_amount: '1', remaining_amount: '3' });
  });
});
