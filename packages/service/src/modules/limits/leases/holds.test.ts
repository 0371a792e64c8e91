import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stored, usageItem } from '../../../testing/index.js';
import { makeLimit, setWallet, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls } from './lease-calls.testing.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
});
afterAll(() => api.close());

const USD = (amount: string) => ({ amount, currency: 'USD' });
const TOKENS = (quantity: string) => ({ quantity, metric: 'llm.tokens' });
const QUANTITY = { measure: 'quantity', period: 'lifetime' } as const;
const ask = (subjectId: string, asked: object) => calls.ask(subjectId, { currency: undefined, ...asked });
const grant = (subjectId: string, asked: object) => calls.grant(subjectId, { currency: undefined, ...asked });
const item = (quantity: string, amount: string, metric = 'llm.tokens') =>
  usageItem({ metric, quantity: stored(quantity), amount: stored(amount) });

async function reservedOf(subjectId: string): Promise<Record<string, string>> {
  return Object.fromEntries(
    (await calls.reservedOf(subjectId)).map(([id, reserved]) => [id.slice('racl_'.length), reserved]),
  );
}

describe('the holds of a lease', () => {
  it('reserve amounts and quantities together, and give both back at its end', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'usd', amount: '10' });
    await makeLimit(api, route, { key: 'eur', amount: '10', currency: 'EUR' });
    await makeLimit(api, route, { key: 'all', amount: '5000', ...QUANTITY });
    await makeLimit(api, route, {
      key: 'calls',
      amount: '9',
      ...QUANTITY,
      selector: ['metric', 'llm.calls'],
    });
    await setWallet(api, route, { balance: '8' });
    const lease = await grant(subjectId, { holds: [TOKENS('2000'), USD('3')] });
    expect(lease).toMatchObject({
      ...{ amount: null, currency: null, used_amount: null, remaining_amount: null },
      holds: [
        { ...TOKENS('2000'), used: '0', remaining: '2000' },
        { ...USD('3'), used: '0', remaining: '3' },
      ],
    });
    expect(await reservedOf(subjectId)).toEqual({ usd: '3', eur: '0', all: '2000', calls: '0' });
    expect(await calls.differences()).toEqual([]);
    const closed = (await calls.close(lease.id)).json();
    expect(closed.holds.map(({ remaining }: { remaining: string }) => remaining)).toEqual(['0', '0']);
    expect(await reservedOf(subjectId)).toEqual({ usd: '0', eur: '0', all: '0', calls: '0' });
    expect(await calls.differences()).toEqual([]);
  });

  it('are all granted, or none', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'a_usd', amount: '10' });
    await makeLimit(api, route, { key: 'a_all', amount: '50', ...QUANTITY });
    await setWallet(api, route, { balance: '5' });
    await setWallet(api, route, { balance: '1', currency: 'EUR' });
    const refused = await ask(subjectId, { holds: [USD('3'), TOKENS('51')] });
    expect([refused.status, refused.json()]).toMatchObject([
      409,
      {
        code: 'limit_exceeded',
        error: 'Would exceed 1 limit: a_all (0 of 50 units used or reserved).',
        details: [{ limit_key: 'a_all', asked_amount: '51' }],
      },
    ]);
    const poor = await ask(subjectId, { holds: [USD('3'), { amount: '2', currency: 'EUR' }] });
    expect([poor.status, poor.json()]).toMatchObject([
      409,
      {
        code: 'insufficient_funds',
        details: [{ path: 'holds[1].amount', currency: 'EUR', available_amount: '1' }],
      },
    ]);
    expect(await reservedOf(subjectId)).toEqual({ a_usd: '0', a_all: '0' });
    expect(await calls.differences()).toEqual([]);
  });

  it('of several metrics ask a limit that selects them all for their sum', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, {
      key: 'sum',
      amount: '10',
      ...QUANTITY,
      selector: ['metric_prefix', 'llm.'],
    });
    const holds = (...quantities: string[]) =>
      quantities.map((quantity, index) => ({ quantity, metric: `llm.m${index}` }));
    expect((await ask(subjectId, { holds: holds('6', '5') })).json()).toMatchObject({
      code: 'limit_exceeded',
      details: [{ limit_key: 'sum', asked_amount: '11' }],
    });
    const { id } = await grant(subjectId, { holds: holds('6', '4') });
    expect(await reservedOf(subjectId)).toEqual({ sum: '10' });
    await calls.use([
      { subject: { type: 'user', id: subjectId }, budgetLeaseId: id, items: [item('5', '0', 'llm.m1')] },
    ]);
    expect(await reservedOf(subjectId)).toEqual({ sum: '6' });
    api.clock.advanceMs(60_000);
    await api.expiry.sweep();
    expect(await reservedOf(subjectId)).toEqual({ sum: '0' });
    expect(await calls.differences()).toEqual([]);
  });

  it('become used by the events that fit them', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'u_usd', amount: '10' });
    await makeLimit(api, route, { key: 'u_all', amount: '100', ...QUANTITY });
    await setWallet(api, route, { balance: '9' });
    const { id } = await grant(subjectId, { holds: [USD('3'), TOKENS('50')] });
    const event = { subject: { type: 'user', id: subjectId }, budgetLeaseId: id };
    const plain = await calls.grant(subjectId, { amount: '1' });
    const items = [item('20', '1'), item('7', '0.5', 'other')];
    const statuses = await calls.use([
      { ...event, items },
      { ...event, items: [item('1', '-0.25')], budgetLeaseId: plain.id },
      { ...event, items: [item('-4', '0')] },
    ]);
    expect(statuses).toEqual(['applied', 'applied', 'applied']);
    expect((await calls.get(id)).json().holds).toEqual([
      { ...USD('3'), used: '1.5', remaining: '1.5' },
      { ...TOKENS('50'), used: '16', remaining: '30' },
    ]);
    expect((await calls.get(plain.id)).json()).toMatchObject({ used_amount: '0', remaining_amount: '1' });
    expect(await reservedOf(subjectId)).toEqual({ u_usd: '2.5', u_all: '30' });
    expect(await calls.differences()).toEqual([]);
    await calls.use([{ ...event, items: [item('60', '4')] }]);
    expect(await reservedOf(subjectId)).toEqual({ u_usd: '1', u_all: '0' });
    expect(await calls.differences()).toEqual([]);
  });

  it('have bounded dimensions, those of the parent lease included', async () => {
    const { subjectId } = await calls.makeSubject();
    const named = (prefix: string, count: number, length = 1) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, 'é'.repeat(length)]));
    const refusal = async (asked: object) => {
      const { status, json } = await calls.ask(subjectId, { amount: '1', ...asked });
      return [status, json().details?.[0]?.path, /\w+_MAX/.exec(json().error ?? '')?.[0]];
    };
    const tooLarge = [400, 'dimensions', 'LEASE_DIMENSIONS_BYTES_MAX'];
    // 2 bytes for a name, and 2 for each é.
    expect(await refusal({ dimensions: named('d', 1, 2_047) })).toEqual([201, undefined, undefined]);
    expect(await refusal({ dimensions: { ...named('d', 1, 2_047), e: '' } })).toEqual(tooLarge);
    const large = await calls.grant(subjectId, { amount: '9', dimensions: named('d', 2, 1_000) });
    expect(await refusal({ parent_lease_id: large.id, dimensions: named('e', 1, 50) })).toEqual(tooLarge);
    const many = await calls.grant(subjectId, { amount: '9', dimensions: named('d', 32) });
    const one = { parent_lease_id: many.id, dimensions: named('d', 1) };
    expect(await refusal(one)).toEqual([201, undefined, undefined]);
    expect(await refusal({ ...one, dimensions: named('e', 1) })).toEqual([
      ...[400, 'dimensions', 'RULE_SET_DIMENSIONS_MAX'],
    ]);
  });

  it('are held by limits on the dimensions that the lease names, and pay only for these', async () => {
    const { subjectId, route } = await calls.makeSubject();
    const dimension = ['model', '7'] as const;
    await makeLimit(api, route, { key: 'd_usd', amount: '10', dimension });
    await makeLimit(api, route, { key: 'd_q', amount: '10', ...QUANTITY, dimension });
    await makeLimit(api, route, { key: 'd_other', amount: '1', dimension: ['model', '8'] });
    const holds = [USD('4'), TOKENS('5')];
    const { id, dimensions } = await grant(subjectId, { holds, dimensions: { model: 7.0, region: 'eu' } });
    expect(dimensions).toEqual({ model: '7', region: 'eu' });
    expect(await reservedOf(subjectId)).toEqual({ d_usd: '4', d_q: '5', d_other: '0' });
    const event = { subject: { type: 'user', id: subjectId }, budgetLeaseId: id, items: [item('2', '1')] };
    const of = (texts: Record<string, string>) => ({ ...event, dimensions: new Map(Object.entries(texts)) });
    await calls.use([of({ model: '7' }), of({ model: '8', region: 'eu' }), of({ model: '7', region: 'eu' })]);
    expect(await reservedOf(subjectId)).toEqual({ d_usd: '3', d_q: '3', d_other: '0' });
    const plain = await calls.grant(subjectId, { amount: '2', dimensions: { model: '7' } });
    expect(await reservedOf(subjectId)).toEqual({ d_usd: '5', d_q: '3', d_other: '0' });
    expect(plain).toMatchObject({ amount: '2', dimensions: { model: '7' } });
  });

  it('may be none: then only a slot is taken', async () => {
    const { subjectId, route } = await calls.makeSubject();
    await makeLimit(api, route, { key: 'slot', measure: 'concurrency', period: 'lifetime', amount: '1' });
    const { id, holds } = await grant(subjectId, { holds: [] });
    expect(holds).toEqual([]);
    expect((await ask(subjectId, { holds: [] })).json()).toMatchObject({ code: 'limit_exceeded' });
    expect(await calls.differences()).toEqual([]);
    expect((await calls.renew(id, 30)).status).toBe(200);
    await calls.close(id);
    expect((await ask(subjectId, { holds: [] })).status).toBe(201);
    expect(await calls.differences()).toEqual([]);
  });

  it.each([
    [{ holds: [USD('1')], amount: '1' }, 'amount'],
    [{ holds: [USD('1')], currency: 'USD' }, 'currency'],
    [{}, 'amount'],
    [{ amount: '1' }, 'currency'],
    [{ amount: '0', currency: 'USD' }, 'amount'],
    [{ holds: [USD('1'), TOKENS('1'), USD('2')] }, 'holds[2].currency'],
    [{ holds: [TOKENS('1'), TOKENS('1')] }, 'holds[1].metric'],
    [{ holds: [TOKENS('0')] }, 'holds[0].quantity'],
    [{ holds: [USD('-1')] }, 'holds[0].amount'],
    [{ holds: [{}] }, 'holds[0].amount'],
    [{ holds: [{ amount: '1' }] }, 'holds[0].currency'],
    [{ holds: [{ quantity: '1' }] }, 'holds[0].metric'],
    [{ holds: [{ metric: 'm' }] }, 'holds[0].quantity'],
    [{ holds: [{ ...USD('1'), metric: 'm' }] }, 'holds[0].metric'],
    [{ holds: [{ ...USD('1'), quantity: '1' }] }, 'holds[0].quantity'],
    [{ holds: [{ ...TOKENS('1'), currency: 'USD' }] }, 'holds[0].currency'],
    [{ holds: [{ amount: '1.0000000000000000001', currency: 'USD' }] }, 'holds[0].amount'],
  ])('are refused with the name of the field: %j', async (asked, path) => {
    const answer = await ask('nobody', asked);
    expect([answer.status, answer.json().details]).toMatchObject([400, [{ path }]]);
  });

  it('are granted once for an Idempotency-Key', async () => {
    const { subjectId } = await calls.makeSubject();
    const body = { subject_type: 'user', subject_id: subjectId, ttl_seconds: 60 };
    const send = (holds: object[], key = 'k') =>
      api.call('POST', `${api.url}/budget-leases`, { ...body, holds }, undefined, { 'idempotency-key': key });
    const first = (await send([USD('1')])).json();
    expect((await send([USD('1.0')])).json()).toEqual(first);
    expect((await send([USD('2')])).json()).toMatchObject({ code: 'idempotency_key_conflict' });
    // As release 0.1.0 has stored the answer of one amount.
    const plain = { ...body, ...USD('1') };
    const old = await api.call('POST', `${api.url}/budget-leases`, plain, undefined, {
      'idempotency-key': 'old',
    });
    await api.postgres.pool.query(
      `update idempotent_requests set answer = (answer::jsonb - 'holds' - 'dimensions')::json where key = 'old'`,
    );
    const again = await api.call('POST', `${api.url}/budget-leases`, plain, undefined, {
      'idempotency-key': 'old',
    });
    expect(again.json()).toEqual(old.json());
  });
});
