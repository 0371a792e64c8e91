import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { stored } from '../../../testing/index.js';
import { makeLimit, makeRoute, type TestLimits } from '../check/realtime.testing.js';
import type { RuledRequest } from './decisions.js';
import { decideLeaseRequests } from './group.js';
import { LeaseCalls } from './lease-calls.testing.js';
import { partsOfGroup } from './request-rules.js';

const LIMITS = 100;

let calls: LeaseCalls;
let api: TestLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
  const route = await makeRoute(api, { id: 'ra_org', subjectId: 'org' });
  for (let n = 0; n < LIMITS; n += 1) await makeQuantityLimit(route, `org_${n}`);
  const below = await makeRoute(api, { id: 'ra_team', subjectId: 'team', parentId: 'org' });
  await makeQuantityLimit(below, 'team');
});
afterAll(() => api.close());

/** Makes a limit that every quantity is reserved of. */
async function makeQuantityLimit(route: { readonly id: string }, key: string): Promise<void> {
  await makeLimit(api, route, { key, amount: '1000', measure: 'quantity', period: 'lifetime' });
}

const holdsOf = (count: number, quantity: string) => ({
  currency: undefined,
  holds: Array.from({ length: count }, (_, n) => ({ quantity, metric: `m${n}` })),
});

async function reservedAmounts(subjectId: string): Promise<Set<string>> {
  return new Set((await calls.reservedOf(subjectId)).map(([, amount]) => amount));
}

it('a lease is refused that would be reserved of too many limits', async () => {
  const refusal = async (subjectId: string, asked: object) => {
    const { status, json } = await calls.ask(subjectId, asked);
    return [status, json().details?.[0]?.path, /not \d+/.exec(json().error ?? '')?.[0]];
  };
  expect(await refusal('team', holdsOf(20, '1'))).toEqual([400, 'holds', 'not 2020']);
  expect(await reservedAmounts('org')).toEqual(new Set(['0']));
  const lease = await calls.grant('org', holdsOf(20, '1'));
  expect(await reservedAmounts('org')).toEqual(new Set(['20']));
  const part = { parent_lease_id: lease.id };
  expect(await refusal('team', { ...holdsOf(20, '1'), ...part })).toEqual([400, 'holds', 'not 2020']);
  expect(await refusal('team', { ...holdsOf(19, '1'), ...part })).toEqual([201, undefined, undefined]);
  await calls.close(lease.id);
  expect(await reservedAmounts('org')).toEqual(new Set(['0']));
  expect(await calls.differences()).toEqual([]);
});

it('requests for leases of many limits are decided in parts, each by what those before it have left', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => calls.ask('org', holdsOf(10, '12'))));
  const granted = answers.filter(({ status }) => status === 201);
  expect(granted).toHaveLength(8);
  expect(await reservedAmounts('org')).toEqual(new Set(['960']));
  await Promise.all(granted.map(({ json }) => calls.close(json().id)));
  expect(await reservedAmounts('org')).toEqual(new Set(['0']));
  expect(await calls.differences()).toEqual([]);
});

it('a part that fails takes no effect, and leaves the answers of those before', async () => {
  const holds = Array.from(
    { length: 10 },
    (_, n) => ({ kind: 'quantity', unit: `m${n}`, amount: stored('1') }) as const,
  );
  const input = {
    ...{ subject: { type: 'user', id: 'org' }, isPlain: false, holds, metric: null },
    ...{ dimensions: new Map(), parentId: undefined, ttlSeconds: 60 },
  };
  const request = { do: 'grant', input, parent: undefined, key: undefined, asked: [] } as const;
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  let inserts = 0;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args) {
    const { text = String(args[0]) } = args[0] as { text?: string };
    if (/insert into budget_leases/.test(text)) inserts += 1;
    if (inserts > 1) throw new Error('away');
    return query.apply(this, args);
  });
  const { postgres, clock } = api;
  const deps = { postgres, clock, limits: calls.subjectLimits() };
  const { results } = await decideLeaseRequests(deps, await calls.project(), Array(12).fill(request));
  spy.mockRestore();
  expect(results.map((result) => Object.keys(result)[0])).toEqual([
    ...Array(5).fill('answer'),
    ...Array(7).fill('error'),
  ]);
  expect(await reservedAmounts('org')).toEqual(new Set(['50']));
  for (const result of results) if ('answer' in result) await calls.close(result.answer.id);
  expect(await reservedAmounts('org')).toEqual(new Set(['0']));
});

it('a part has requests of at most 5,000 limits, or one request', () => {
  const grants = [3_000, 2_000, 1, 6_000, 0, 0].map(
    (count) => ({ do: 'grant', slots: [], rules: [Array(count), []] }) as unknown as RuledRequest,
  );
  const renewal = (count: number) => {
    const lease = { slots: Array(1), holds: [{ rules: Array(count - 1) }] };
    return { do: 'renew', found: { lease } } as unknown as RuledRequest;
  };
  const requests = [...grants, renewal(5_000), renewal(1)];
  const [a, b, c, d, e, f, g, h] = requests;
  expect(partsOfGroup(requests)).toEqual([[a, b], [c], [d], [e, f, g], [h]]);
});
