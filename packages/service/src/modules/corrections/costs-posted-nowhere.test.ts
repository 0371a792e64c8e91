import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

/** More than the time after a change for which verify compares with bounds. */
const SETTLED_MS = 100_000;

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

const MONTHLY = { selector_type: 'all', period: 'month', action: 'notify', limit_amount: '1000' } as const;
const LIMITS = [
  { ...MONTHLY, limit_key: 'usd', measure: 'amount', currency: 'USD' },
  { ...MONTHLY, limit_key: 'eur', measure: 'amount', currency: 'EUR' },
  {
    ...MONTHLY,
    limit_key: 'tokens',
    measure: 'quantity',
    selector_type: 'metric',
    selector_value: 'llm.tokens',
  },
  { ...MONTHLY, limit_key: 'items', measure: 'count' },
];

/** Creates or changes rules of cost: USD, as the price of tokens has, or GBP, which no price has. */
async function publishCosts(
  project: CorrectionsProject,
  currency: 'USD' | 'GBP',
  prices: Readonly<Record<string, string>>,
  id?: string,
): Promise<string> {
  const rules = Object.entries(prices).map(([metric, price]) => {
    return { name: metric, metric, unit_price_expr: `dec("${price}")` };
  });
  const ruleSet = { extractor_rule_set_id: project.ruleSetId, effective_from: 0, purpose: 'cost', currency };
  const path = '/pricing-rule-sets';
  const body = { ...ruleSet, rules };
  const saved = id ?? (await project.must(201, 'POST', path, body)).id;
  if (id !== undefined) await project.must(200, 'PUT', `${path}/${id}`, body);
  await project.must(200, 'POST', `${path}/${saved}/publish`);
  return saved;
}

/** Returns the balances of an account, and the usage of each limit. */
async function posted(project: CorrectionsProject, accountId: string) {
  const { wallets } = await project.get(`/accounts/${accountId}/wallets`);
  const balances = wallets.map(({ currency, balance }: { currency: string; balance: string }) => {
    return `${currency} ${balance}`;
  });
  const windows = await fixture.rows<{ text: string }>(
    `select r.limit_key || ' ' || trim_scale(w.used) as text
     from limit_windows w join limit_rules r on r.no = w.rule_no where r.project_id = $1 and w.used <> 0`,
    [project.projectId],
  );
  return { balances: balances.sort(), windows: windows.map(({ text }) => text).sort() };
}

it('costs enter no wallet and no limit, neither when usage is rated nor when it is corrected', async () => {
  const project = await CorrectionsProject.create(fixture);
  const plan = { name: 'limits', title: 'Limits', rules: LIMITS };
  const { id: planId } = await project.must(201, 'POST', '/usage-limit-plans', plan);
  await project.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
  const { accountId } = await project.route('a', planId);
  const id = await publishCosts(project, 'USD', { 'llm.tokens': '32', 'llm.calls': '64' });
  await publishCosts(project, 'GBP', { 'net.bytes': '128' });
  fixture.clock.advanceMs(SETTLED_MS);

  const [first = ''] = await project.sendAndRate([
    { customer: 'a', n: 2, calls: 1, bytes: 1 },
    { customer: 'a', n: 4 },
  ]);
  const costs = ({ charge_items }: { charge_items: { cost: object | null }[] }) =>
    charge_items.map(({ cost }) => cost);
  expect(costs(await project.event(first))).toMatchObject([
    { amount: '64', currency: 'USD' },
    { amount: '64', currency: 'USD' },
    { amount: '128', currency: 'GBP' },
  ]);
  const charged = {
    balances: ['EUR -2', 'USD -3'],
    windows: ['eur 2', 'items 4', 'tokens 6', 'usd 3'],
  };
  expect(await posted(project, accountId)).toEqual(charged);

  await publishCosts(project, 'USD', { 'llm.tokens': '16', 'llm.calls': '64' }, id);
  const recosted = await project.correct({ action: 'rerate' });
  expect(recosted).toMatchObject({ status: 'applied', events_changed: 2 });
  expect(costs(await project.event(first))).toMatchObject([{ amount: '32' }, {}, {}]);
  expect(await posted(project, accountId)).toEqual(charged);

  await project.void(first);
  expect(await posted(project, accountId)).toEqual({
    balances: ['EUR 0', 'USD -2'],
    windows: ['items 1', 'tokens 4', 'usd 2'],
  });
  const nothing = { difference_count: 0 };
  expect(await fixture.verify()).toMatchObject({ status: 'equal', ledger: nothing, postings: nothing });
});
