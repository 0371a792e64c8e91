import type { Backtest, BacktestRequest, Correction } from '@tollgate/contract';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

let fixture: CorrectionsFixture;
let project: CorrectionsProject;
let eventId: string;
let payer: string;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  project = await CorrectionsProject.create(fixture, { token: '1' });
  const { accountId } = await project.route('c1');
  payer = accountId;
  [eventId = ''] = await project.sendAndRate([
    { customer: 'c1', n: 2, bytes: 2 },
    { customer: 'c1', bytes: 3 },
  ]);
});

const pricesOf = (price: string) => ({
  ...{ extractor_rule_set_id: project.ruleSetId, currency: 'USD', effective_from: 1_700_000_000 },
  rules: [{ name: 'bytes', metric: 'net.bytes', unit_price_expr: `dec("${price}")` }],
});
const byTwo = () => {
  const { extractor_rule_set_id: _bound, ...pricing } = pricesOf('2');
  return { pricing };
};

async function backtest(rules: Partial<BacktestRequest>): Promise<Backtest> {
  const body = { extractor_rule_set_id: project.ruleSetId, time_range: project.everything, ...rules };
  const tested = await project.must(200, 'POST', '/rules/backtest', body);
  fixture.clock.advanceMs(2_000);
  return tested;
}

const bodyOf = ({ id }: Backtest) => ({ action: 'rerate', backtest_id: id, reason: 'as tested' });

async function apply(tested: Backtest): Promise<Correction> {
  return project.ended((await project.must(202, 'POST', '/usage/corrections', bodyOf(tested))).id);
}

/** Returns why a request to apply the backtest is refused at once. */
async function refusal(tested: Backtest): Promise<string> {
  const { status, ...answer } = await project.call('POST', '/usage/corrections', bodyOf(tested));
  const { code, details } = answer.json();
  expect([status, code]).toEqual([409, 'backtest_stale']);
  return details[0].message;
}

async function createPrices(price: string): Promise<string> {
  return (await project.must(201, 'POST', '/pricing-rule-sets', pricesOf(price))).id;
}

it('plans what the backtest has shown, also where its prices are published meanwhile', async () => {
  const tested = await backtest(byTwo());
  const id = await createPrices('2');
  await project.must(200, 'POST', `/pricing-rule-sets/${id}/publish`);
  expect(await apply(tested)).toMatchObject({
    status: 'applied',
    applied: { events: 2 },
  });
  expect(await project.balance(payer)).toBe('-12');
});

it('refuses events that arrived after the backtest', async () => {
  const tested = await backtest(byTwo());
  await project.sendAndRate([{ customer: 'c1', bytes: 4 }]);
  expect(await refusal(tested)).toBe('it rated 2 events, and there are 3 now');
});

it('refuses other charges of as many events, until they are restored', async () => {
  const tested = await backtest(byTwo());
  const { id } = await project.replace(eventId, { customer: 'c1', n: 2, bytes: 7 });
  expect(await refusal(tested)).toBe('the charges of net.bytes have changed since');
  await project.change(id, 'revert');
  expect(await apply(tested)).toMatchObject({ status: 'applied' });
});

it('refuses a rule set named without a version that has a newer one', async () => {
  const id = await createPrices('2');
  await project.must(200, 'POST', `/pricing-rule-sets/${id}/publish`);
  const newest = await backtest({ pricing_rule_set_id: id });
  const named = await backtest({ pricing_rule_set_id: id, pricing_version: 1, version: 1 });
  await project.must(200, 'PUT', `/pricing-rule-sets/${id}`, pricesOf('3'));
  expect(await refusal(newest)).toBe('its rules have changed since');
  await project.must(202, 'POST', '/usage/corrections', { ...bodyOf(named), dry_run: true });
});

it('refuses where prices of production were published or archived since', async () => {
  const id = await createPrices('2');
  const before = await backtest({});
  await project.must(200, 'POST', `/pricing-rule-sets/${id}/publish`);
  expect(await refusal(before)).toBe('its rules have changed since');
  const published = await backtest({});
  await project.must(200, 'POST', `/pricing-rule-sets/${id}/archive`);
  expect(await refusal(published)).toBe('its rules have changed since');
});

it('a plan that differs in what the request cannot know fails, and says by what', async () => {
  const id = await createPrices('2');
  const tested = await backtest({ pricing_rule_set_id: id });
  // A draft changes in place: its version and its time stay.
  await project.must(200, 'PUT', `/pricing-rule-sets/${id}`, pricesOf('3'));
  expect(await apply(tested)).toMatchObject({
    status: 'failed',
    failure: {
      code: 'backtest_stale',
      message: 'net.bytes would change by something else than the backtest shows. Run the backtest again.',
    },
  });
});
