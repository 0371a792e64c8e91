import { afterAll, beforeAll, expect, it } from 'vitest';
import { stored, usageItem } from '../../../testing/index.js';
import { makeLimit, makeRoute, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls } from './lease-calls.testing.js';

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
  const route = await makeRoute(api, { id: 'ra_agent', subjectId: 'agent' });
  await makeLimit(api, route, { key: 'money', amount: '100', period: 'lifetime' });
  await makeLimit(api, route, { key: 'calls', measure: 'quantity', amount: '100', period: 'lifetime' });
});
afterAll(() => api.close());

/** Creates a lease of money and calls, a part of it, and a part of that. */
async function makeTree(asked: object, askedBelow = asked) {
  const holds = [
    { amount: '20', currency: 'USD' },
    { quantity: '30', metric: 'm' },
  ];
  const top = await calls.grant('agent', { currency: undefined, holds });
  const part = await calls.grant('agent', { parent_lease_id: top.id, ...asked });
  const low = await calls.grant('agent', { parent_lease_id: part.id, ...askedBelow });
  return [top.id, part.id, low.id] as [string, string, string];
}

const use = (budgetLeaseId: string, amount: string, quantity: string) =>
  calls.use([
    {
      subject: { type: 'user', id: 'agent' },
      budgetLeaseId,
      items: [usageItem({ metric: 'm', amount: stored(amount), quantity: stored(quantity) })],
    },
  ]);

async function holdsOf(ids: readonly string[]) {
  const leases = await Promise.all(ids.map(async (id) => (await calls.get(id)).json()));
  return leases.map(({ holds }) =>
    holds.map(({ used, remaining }: Record<string, string>) => [used, remaining]),
  );
}

it('takes what a part does not hold from the leases above, which hold it', async () => {
  const tree = await makeTree({ amount: '10' }, { amount: '4' });
  await use(tree[2], '3', '7');
  expect(await holdsOf(tree)).toEqual([
    [
      ['3', '10'],
      ['7', '23'],
    ],
    [['3', '6']],
    [['3', '1']],
  ]);
  expect(await calls.differences()).toEqual([]);
  await use(tree[1], '0', '-2');
  expect((await holdsOf(tree))[0]).toEqual([
    ['3', '10'],
    ['5', '23'],
  ]);
  await calls.close(tree[0]);
});

it('charges the leases above a part that holds nothing', async () => {
  const nothing = { currency: undefined, holds: [] };
  const tree = await makeTree(nothing);
  await use(tree[2], '3', '7');
  expect(await holdsOf(tree)).toEqual([
    [
      ['3', '17'],
      ['7', '23'],
    ],
    [],
    [],
  ]);
  expect(Object.fromEntries(await calls.reservedOf('agent'))).toEqual({ racl_money: '17', racl_calls: '23' });
  expect(await calls.differences()).toEqual([]);
});
