import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const METRIC = 'llm.input_tokens';

describe.runIf(hasBrowser)('price models in the console', () => {
  let opened: OpenConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ events: 3 });
    ({ page } = opened);
    await opened.signIn();
    const { tenant, service } = opened;
    const draft = await opened.client.project(tenant.projectId).pricingRuleSets.create({
      extractor_rule_set_id: tenant.ruleSetId,
      name: 'Models',
      rules: [{ metric: METRIC, name: 'special', amount_expr: 'dec_round(item.quantity * dec("0.01"), 2)' }],
    });
    await page.goto(`${service.url}/p/${tenant.projectId}/rules/pricing/${draft.id}`);
    await price('special').waitFor();
  });
  afterAll(() => opened?.close());

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const rule = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('button', { name: new RegExp(`^${name}`) }) });
  const price = (name: string) => rule(name).getByRole('region', { name: 'Price', exact: true });
  const field = (name: string, label: string) =>
    price(name).getByRole('textbox', { name: label, exact: true });
  const choose = (name: string, label: string, option: string) =>
    price(name).getByLabel(label, { exact: true }).selectOption(option);
  const fill = async (name: string, values: Readonly<Record<string, string>>) => {
    for (const [label, value] of Object.entries(values)) await field(name, label).fill(value);
  };
  const savedRules = async () => {
    await button('Save draft').click();
    await page.getByText('unsaved changes').waitFor({ state: 'detached' });
    await button('JSON').click();
    const text = await page.getByRole('textbox', { name: 'Rule set as JSON' }).textContent();
    await button('Form').click();
    return (JSON.parse(text ?? '') as { rules: Record<string, unknown>[] }).rules;
  };

  it('shows a formula of its own as an expression, and says why', async () => {
    await price('special').getByText('Shown as an expression, because it uses dec_round.').waitFor();
    expect(await price('special').getByLabel('Price model').inputValue()).toBe('expression');
  });

  it('writes tiers of a month, and says at the field what is wrong', async () => {
    await button('Add rule').click();
    const added = page.getByRole('listitem').last();
    await added.getByLabel('Metric').fill(METRIC);
    await added.getByLabel('Name').fill('tiers');
    await choose('tiers', 'Price model', 'Graduated tiers');
    await choose('tiers', 'Price of', 'Total over a period');
    await fill('tiers', { 'Tier 1: up to': '1,000', 'Tier 1: price per unit': '0.01' });
    await button('Add tier').click();
    await fill('tiers', { 'Tier 2: up to': '1000', 'Tier 2: price per unit': '0.008' });
    await price('tiers').getByText('Enter a number above 1000.').waitFor();
    await price('tiers').getByText('up_to must rise from tier to tier').waitFor();
    expect(await button('Publish…').isDisabled()).toBe(true);
    await fill('tiers', { 'Tier 2: up to': '5000', 'Tier 3: price per unit': '0.005', Cap: '50' });
    await fill('tiers', { Counter: 'prompts' });
    await button('model').click();
    await button('Publish…').and(page.locator(':enabled')).waitFor();
    expect((await savedRules())[1]).toEqual({
      metric: METRIC,
      name: 'tiers',
      cumulative: { counter: 'prompts', period: 'month', per: 'subject', by: ['model'] },
      total_expr:
        'dec_min(tier_graduated(total.quantity, [[1000, "0.01"], [5000, "0.008"], [null, "0.005"]]), dec("50"))',
    });
  });

  it('reads the price back, and keeps its numbers when the model changes', async () => {
    await rule('tiers')
      .getByRole('button', { name: /^tiers/ })
      .click();
    expect(await field('tiers', 'Tier 3: price per unit').inputValue()).toBe('0.005');
    await choose('tiers', 'Price model', 'Allowance, then overage');
    expect(await field('tiers', 'Included quantity').inputValue()).toBe('1000');
    await fill('tiers', { 'Overage price': '0.02', 'Fixed fee': '20', Cap: '' });
    await choose('tiers', 'Price of', 'Each charge item');
    expect((await savedRules())[1]).toEqual({
      metric: METRIC,
      name: 'tiers',
      amount_expr: 'dec("20") + tier_graduated(item.quantity, [[1000, "0"], [null, "0.02"]])',
    });
    opened.problems.splice(0);
  });

  it('breaks no content policy, logs no error and loads nothing from elsewhere', () => {
    expect(opened.problems).toEqual([]);
  });
});
