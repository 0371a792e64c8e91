import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { CUSTOMER, hasBrowser, type OpenConsole, openConsole, SOURCE } from '../support/console.js';
import { editorJson } from '../support/editor-json.js';

const METRIC = 'llm.input_tokens';
const MINUTES = 'support.minutes';

describe.runIf(hasBrowser)('price models in the console', () => {
  let opened: OpenConsole;
  let page: Page;
  let published: string;
  let lastEvent: string;

  beforeAll(async () => {
    opened = await openConsole({ events: 3 });
    ({ page } = opened);
    await opened.signIn();
    const { pricingRuleSets } = project();
    const bound = { extractor_rule_set_id: opened.tenant.ruleSetId };
    const { id } = await pricingRuleSets.create({
      ...bound,
      name: 'Support',
      rules: [
        {
          metric: MINUTES,
          cumulative: { counter: 'minutes', period: 'month', per: 'subject' },
          total_expr: 'tier_volume(total.quantity, [[50, "2"], [null, "1"]])',
        },
      ],
    });
    await pricingRuleSets.publish(id);
    published = id;
    await sendMinutes(40);
    lastEvent = await sendMinutes(12);
    const draft = await pricingRuleSets.create({
      ...bound,
      name: 'Models',
      rules: [{ metric: METRIC, name: 'special', amount_expr: 'dec_round(item.quantity * dec("0.01"), 2)' }],
    });
    await open(`rules/pricing/${draft.id}`);
    await price('special').waitFor();
  });
  afterAll(() => opened?.close());

  const project = () => opened.client.project(opened.tenant.projectId);
  const open = (path: string) => page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/${path}`);
  /** Sends minutes of support of the customer; returns the event once it is rated. */
  const sendMinutes = async (quantity: number) => {
    const { raw_event_id } = await project().ingest(opened.tenant.ruleSetId, {
      source: SOURCE,
      occurred_at: Math.floor(Date.now() / 1_000),
      raw_json: { model: 'gpt-5', customer: CUSTOMER },
      'x-billing': { items: [{ metric: MINUTES, quantity, unit: 'min' }] },
    });
    const isRated = () =>
      project()
        .usage.event(raw_event_id, { wait_seconds: 10 })
        .then(Boolean, () => false);
    await waitFor(isRated, { timeoutMs: 120_000, what: 'the rated event' });
    return raw_event_id;
  };
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
    const { rules } = await editorJson(page.getByRole('textbox', { name: 'Rule set as JSON' }));
    await button('Form').click();
    return rules as Record<string, unknown>[];
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
    const missing = price('tiers').getByText('Enter a number such as 0.25.');
    expect(await missing.count()).toBe(0);
    await field('tiers', 'Tier 1: up to').focus();
    await field('tiers', 'Tier 1: price per unit').focus();
    await missing.waitFor();
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

  it('shows prices by model as a grid, and writes a rule for each', async () => {
    await button('Model prices').click();
    await page.getByText('2 other rules are not shown here').waitFor();
    await page.getByLabel('New model').fill('gpt-5-mini');
    await page.keyboard.press('Enter');
    await page.getByLabel('input of gpt-5-mini', { exact: true }).fill('0.25');
    await button('Add a price for all others').click();
    const others = page.getByLabel('input of all others', { exact: true });
    await page.getByLabel('input of gpt-5-mini', { exact: true }).press('ArrowDown');
    await others.and(page.locator(':focus')).waitFor();
    await others.fill('1');
    const million = { metric: METRIC, pricing_unit: '1000000' };
    expect((await savedRules()).filter((rule) => rule.pricing_unit !== undefined)).toEqual([
      {
        ...{ name: `gpt-5-mini ${METRIC}`, match_expr: 'dimensions.model == "gpt-5-mini"' },
        ...{ ...million, unit_price_expr: 'dec("0.25")' },
      },
      { name: `other ${METRIC}`, priority: 100, ...million, unit_price_expr: 'dec("1")' },
    ]);
    await button('Model prices').click();
    expect(await others.inputValue()).toBe('1');
    await button('Remove gpt-5-mini').click();
    await page.getByLabel('input of gpt-5-mini', { exact: true }).waitFor({ state: 'detached' });
    await button('Discard').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  });

  it('draws the price, where it falls, and where a customer is', async () => {
    await open(`rules/pricing/${published}`);
    const shown = price(MINUTES);
    await shown.getByText('Above 50 the amount falls from 100 to 50 USD').waitFor();
    const curve = shown.getByRole('slider', { name: /^Quantity on the price curve: 2 for all up to 50/ });
    await curve.press('Home');
    expect(await curve.getAttribute('aria-valuetext')).toBe('0 costs 0 USD');
    await curve.press('End');
    expect(await curve.getAttribute('aria-valuetext')).toBe('80 costs 80 USD');
    await curve.hover({ position: { x: 1, y: 50 } });
    await shown.getByText('one more unit +2').waitFor();
    await shown.getByLabel('Show the current total of').selectOption({ label: `customer ${CUSTOMER}: 52` });
    await shown.getByText(/has 52 in the period until .* charged 52 USD so far/).waitFor();
    await fill(MINUTES, { 'Tier 2: price per unit': '1.5' });
    await shown.getByText('By this rule the price would be 78 USD.').waitFor();
  });

  it('tests the rules with a total before the event', async () => {
    await page
      .getByRole('navigation', { name: 'Rule set' })
      .getByRole('link', { name: 'Test', exact: true })
      .click();
    await page.getByLabel('Received events').selectOption(lastEvent);
    const items = page.getByRole('region', { name: 'Charge items' });
    await items.getByText(/^0 min before, 12 after. The total costs 0 USD before and 24 USD after/).waitFor();
    await page.getByRole('region', { name: 'Totals before the event' }).getByLabel('minutes').fill('40');
    await items
      .getByText(/^40 min before, 52 after. The total costs 80 USD before and 78 USD after: -2 USD/)
      .waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
  });

  it('fits a narrow screen, where both numbers of a tier are visible in full', async () => {
    await page.setViewportSize({ width: 360, height: 780 });
    for (const [name, text] of [
      ['Tier 1: up to', '10000000'],
      ['Tier 1: price per unit', '0.0000025'],
    ] as const) {
      await fill(MINUTES, { [name]: text });
      const hidden = await field(MINUTES, name).evaluate((input) => input.scrollWidth - input.clientWidth);
      expect(hidden, name).toBe(0);
    }
    for (const view of ['Form', 'Model prices']) {
      await button(view).click();
      expect(await page.evaluate('document.documentElement.scrollWidth'), view).toBeLessThanOrEqual(360);
    }
  });

  it('says how the amount of a charge item followed from a total', async () => {
    await page.setViewportSize({ width: 1_280, height: 900 });
    await button('Discard').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await open(`usage?event=${lastEvent}`);
    const calculation = page.getByRole('dialog').getByRole('region', { name: 'Calculation' });
    await calculation.getByText('40 min before, 52 after', { exact: true }).waitFor();
    await calculation.getByText('The total costs 80 USD before and 52 USD after: -28 USD').waitFor();
    await calculation.getByText(/^Counter minutes of the subject, month from 1 /).waitFor();
    await calculation.getByText('tier_volume(total.quantity, [[50, "2"], [null, "1"]])').waitFor();
  });

  it('breaks no content policy, logs no error and loads nothing from elsewhere', () => {
    expect(opened.problems).toEqual([]);
  });
});
