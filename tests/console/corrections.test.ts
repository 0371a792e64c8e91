import type { CorrectionSummary } from '@tollgate/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLE_PRICES } from '../../packages/service/src/main/demo/sample-rules.js';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const EVENTS = 12;
const XSS = '<img src=x onerror=alert(1)>';

describe.runIf(hasBrowser)('corrections in the console', () => {
  let opened: OpenConsole;
  let page: Page;
  let pricingId: string;

  beforeAll(async () => {
    opened = await openConsole({ events: EVENTS });
    ({ page } = opened);
    // A draft by which everything costs ten times as much as one token of the cheapest model.
    const { pricingRuleSets } = project();
    const [prices] = (await pricingRuleSets.list({ purpose: 'price' })).pricing_rule_sets;
    pricingId = prices?.id ?? '';
    const rules = (SAMPLE_PRICES.rules ?? []).map((rule) => ({
      ...rule,
      unit_price_expr: 'dec("0.000025")',
    }));
    const { extractor_rule_set_id = '' } = prices ?? {};
    const name = 'Model prices';
    await pricingRuleSets.update(pricingId, { ...SAMPLE_PRICES, rules, extractor_rule_set_id, name });
    await opened.signIn();
    await opened.goTo('Usage');
  });
  afterAll(() => opened?.close());

  const project = () => opened.client.project(opened.tenant.projectId);
  const rows = () => page.getByRole('region', { name: 'Events' }).locator('tbody tr');
  const dialog = (name: string | RegExp) => page.getByRole('dialog', { name });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const state = (text: RegExp | string) =>
    page.getByRole('region', { name: 'State' }).getByText(text).waitFor();
  /** The balances of all accounts, which only their events change. */
  async function balances(): Promise<string[]> {
    const { accounts } = await project().accounts.list();
    const wallets = await Promise.all(accounts.map(({ id }) => project().accounts.wallets(id)));
    return wallets.flatMap((each) => each.wallets.map(({ balance }) => balance));
  }
  async function latest(): Promise<CorrectionSummary> {
    const [newest] = (await project().corrections.list({ limit: 1 })).corrections;
    if (newest === undefined) throw new Error('there is no correction');
    return newest;
  }
  const confirm = (name: string, verb: string) =>
    dialog(name).getByRole('button', { name: verb, exact: true }).click();

  it('voids selected events one by one, and says how many are done', async () => {
    const before = await balances();
    await rows().first().getByRole('checkbox').check();
    await rows().nth(1).getByRole('checkbox').press('Space');
    const bar = page.getByRole('region', { name: 'Selection' });
    await bar.getByText('2 events selected.').waitFor();
    await bar.getByRole('button', { name: 'Void 2…' }).click();
    const voiding = dialog('Void events');
    expect(await voiding.getByRole('button', { name: 'Void 2 events' }).isDisabled()).toBe(true);
    await voiding.getByLabel('Reason').fill(`Sent twice ${XSS}`);
    await voiding.getByRole('button', { name: 'Void 2 events' }).click();
    await voiding.waitFor({ state: 'detached', timeout: 30_000 });
    await waitFor(async () => (await rows().getByText('voided', { exact: true }).count()) === 2);
    expect(await bar.count()).toBe(0);
    expect(await rows().first().getByRole('checkbox').isDisabled()).toBe(true);
    expect(await balances()).not.toEqual(before);
    expect((await project().usage.events({ status: 'voided' })).events).toHaveLength(2);
  });

  it('shows in the event who has changed what, and why', async () => {
    await rows().first().getByRole('button').click();
    await dialog('Event').getByText('None: voided events charge nobody').waitFor();
    const history = dialog('Event').getByRole('region', { name: 'History' });
    await history.getByText('Revision 2, voided').waitFor();
    await dialog('Event').getByText('Voided', { exact: true }).waitFor();
    await history.getByText('Sent twice').waitFor();
    await history.getByText('by Demo').waitFor();
    await history
      .getByRole('list', { name: 'Changes of revision 2' })
      .getByText(/→ 0 USD$/)
      .first()
      .waitFor();
    await history.getByRole('link', { name: 'View correction' }).click();
    await page.getByRole('heading', { name: 'Void an event' }).waitFor();
    await state('1 event was changed.');
    await page.getByRole('region', { name: 'Details' }).getByText(XSS).waitFor();
  });

  it('refuses filters that a correction cannot have', async () => {
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/usage?currency=USD`);
    await button('Correct…').click();
    await dialog('Correct matching events').getByText('Currency').waitFor();
    await button('Back to the list').click();
    await button('Clear').click();
  });

  it('plans by chosen prices, and changes nothing before the plan is applied', async () => {
    const before = await balances();
    await page.getByLabel('Metric').fill('llm.output_tokens');
    await waitFor(async () => page.url().includes('metric='), { what: 'the filter' });
    await button('Correct…').click();
    const correct = dialog('Correct matching events');
    await correct.getByText('llm.output_tokens').waitFor();
    await correct.getByLabel('Prices').selectOption('Chosen versions');
    await correct.getByLabel('Reason').fill('The contract has changed');
    expect(await correct.getByRole('button', { name: 'Show what would change' }).isDisabled()).toBe(true);
    await correct.getByLabel('Add a pricing rule set').selectOption('Model prices');
    expect(await correct.getByLabel('Model prices').inputValue()).toBe('2');
    await correct.getByRole('button', { name: 'Show what would change' }).click();
    await state(`${EVENTS - 2} of ${EVENTS - 2} events would change.`);
    const totals = page.getByRole('region', { name: 'Planned changes', exact: true });
    await totals.getByText('llm.output_tokens').first().waitFor();
    await totals
      .getByText(/^\+.* USD$/)
      .first()
      .waitFor();
    // Quantities stay the same, and are shown with their unit.
    await totals.getByRole('cell', { name: '0 token', exact: true }).first().waitFor();
    await totals.getByText(/^Amounts in total: \+[\d.]+ USD$/).waitFor();
    // The sample has costs, which the chosen prices leave as they are.
    await totals.getByRole('columnheader', { name: 'Cost difference' }).waitFor();
    const examples = page.getByRole('region', { name: 'Examples' });
    expect(await examples.getByRole('listitem').count()).toBe(EVENTS - 2);
    await examples.locator('summary').first().click();
    await examples.getByText('After').first().waitFor();
    expect(await balances()).toEqual(before);
  });

  it('applies the plan exactly, and reverts it', async () => {
    const before = await balances();
    await button('Apply…').click();
    await dialog('Apply the correction')
      .getByText(`This changes ${EVENTS - 2} events.`)
      .waitFor();
    await dialog('Apply the correction').getByLabel('Compute amounts that depend on totals again').check();
    await dialog('Apply the correction').getByLabel('Reason').fill(' Approved ');
    const sent = page.waitForRequest((request) => request.url().endsWith('/apply'));
    await confirm('Apply the correction', 'Apply');
    expect((await sent).postDataJSON()).toEqual({ counters: 'current', reason: 'Approved' });
    await state(`${EVENTS - 2} events were changed.`);
    expect(await balances()).not.toEqual(before);
    await button('Revert…').click();
    await confirm('Revert the correction', 'Revert');
    await state('The events have their former results again.');
    expect(await balances()).toEqual(before);
    expect(await button('Revert…').count()).toBe(0);
  });

  it('plans it again', async () => {
    await button('Plan again…').click();
    const again = dialog('Plan the correction again');
    expect(await again.getByLabel('Reason').inputValue()).toBe('The contract has changed');
    await again.getByRole('button', { name: 'Show what would change' }).click();
    await state(`${EVENTS - 2} of ${EVENTS - 2} events would change. Nothing has changed yet.`);
    await button('Delete…').click();
    await confirm('Delete the plan', 'Delete');
    await state('The plan was deleted');
  });

  it('replaces one event by its edited JSON, and keeps one that would fail', async () => {
    await opened.goTo('Usage');
    await page.getByLabel('Status').selectOption('Processed');
    await waitFor(async () => (await rows().count()) === EVENTS - 2, { what: 'the processed events' });
    await rows().first().getByRole('button').click();
    const event = dialog('Event');
    await event.getByRole('button', { name: 'Replace…' }).click();
    const replace = dialog('Replace the event');
    const content = replace.getByRole('textbox', { name: 'New content as JSON' });
    await content.fill('{"customer": "cust_001"}');
    // A key that would open another event belongs to the text.
    await replace.getByLabel('Reason').pressSequentially('just wrong');
    await replace.getByRole('button', { name: 'Replace', exact: true }).click();
    await replace.getByRole('alert').getByText(/model/).waitFor();
    await content.fill(
      '{"customer": "cust_001", "model": "gpt-5", "usage": {"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 7}}',
    );
    await replace.getByRole('button', { name: 'Replace', exact: true }).click();
    await replace.waitFor({ state: 'detached', timeout: 30_000 });
    await event.getByRole('region', { name: 'Event as sent' }).getByText('"output_tokens": 7').waitFor();
    const history = event.getByRole('region', { name: 'History' });
    await history.getByText('just wrong').waitFor();
    await history.getByText('Content of revision 4').click();
    await history.getByText('"output_tokens": 7').waitFor();
    await history.getByText('Content of revision 1').waitFor();
    await history.getByText('Revision 3, by a revert').waitFor();
    await page.keyboard.press('Escape');
    await event.waitFor({ state: 'detached' });
  });

  it('leads from the ledger to the correction', async () => {
    await opened.goTo('Billing');
    await page.getByRole('region', { name: 'Accounts' }).getByRole('link').first().click();
    await page.getByLabel('Type').selectOption('Correction');
    await page
      .getByRole('region', { name: 'Ledger entries' })
      .getByRole('link', { name: 'Correction' })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Replace an event' }).waitFor();
  });

  it('applies a backtest, with its events and rules', async () => {
    const { service, tenant } = opened;
    await page.goto(`${service.url}/p/${tenant.projectId}/rules/pricing/${pricingId}/backtest`);
    await button('Start backtest').click();
    await button('Apply this backtest…').click();
    await dialog('Apply this backtest').getByLabel('Reason').fill('As tested');
    await button('Show what would change').click();
    await state(/would change\. Nothing has changed yet\./);
    await page.getByText(/Rules and events of the backtest/).waitFor();
    expect((await latest()).status).toBe('planned');
  });

  it('deletes a plan, and lists all corrections', async () => {
    await button('Delete…').click();
    await confirm('Delete the plan', 'Delete');
    await state(/The plan was deleted/);
    await page.getByRole('link', { name: 'Corrections /' }).click();
    const list = page.getByRole('region', { name: 'Corrections', exact: true });
    await waitFor(async () => (await list.locator('tbody tr').count()) === 7, { what: 'the corrections' });
    await list.locator('tbody tr').first().getByText('As tested').waitFor();
    await page.getByLabel('Status').selectOption('Reverted');
    await waitFor(async () => (await list.locator('tbody tr').count()) === 1, { what: 'the filter' });
    await list.getByText('The contract has changed').waitFor();
    await page.getByLabel('Status').selectOption('Stale');
    await page.getByRole('heading', { name: 'No matching corrections' }).waitFor();
  });

  it('fits a phone', async () => {
    await page.setViewportSize({ width: 360, height: 780 });
    const { id } = await latest();
    const usage = `${opened.service.url}/p/${opened.tenant.projectId}/usage`;
    for (const path of ['/corrections', `/corrections/${id}`, '?correct=matching']) {
      await page.goto(usage + path);
      await page.locator('h1').waitFor();
      await page.locator('.animate-pulse').first().waitFor({ state: 'detached' });
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect([path, width <= 360]).toEqual([path, true]);
    }
    await page.setViewportSize({ width: 1_280, height: 900 });
  });

  it('offers nothing to a key that may only read', async () => {
    const { service, tenant, client } = opened;
    const { key } = await client
      .tenant(tenant.tenantId)
      .createApiKey({ name: 'reader', project_id: tenant.projectId, permissions: ['usage:read'] });
    const { id } = (await project().corrections.list({ status: 'applied', limit: 1 })).corrections[0] ?? {};
    await page.goto('about:blank');
    await page.goto(`${service.url}/sign-in#key=${key}`);
    // The page for signing in has a heading too.
    await page.waitForURL(({ pathname }) => pathname.startsWith('/p/'));
    await page.getByText('lacks the permission analytics:read. Sign in with a key that has it.').waitFor();
    expect(await button('Try again').count()).toBe(0);
    await page.goto(`${service.url}/p/${tenant.projectId}/usage?correct=matching`);
    await rows().first().waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await button('Correct…').count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await rows().first().getByRole('button').click();
    await dialog('Event').getByRole('region', { name: 'Calculation' }).waitFor();
    expect(
      await dialog('Event')
        .getByRole('button', { name: /^(Void|Replace)…$/ })
        .count(),
    ).toBe(0);
    await page.goto(`${service.url}/p/${tenant.projectId}/usage/corrections/${id}`);
    await state(/changed/);
    expect(await button('Revert…').count()).toBe(0);
  });

  it('breaks no content policy and logs no error', () => {
    // The browser logs each request that was refused: those of the key that may only read.
    expect(opened.problems.filter((problem) => !problem.includes('403'))).toEqual([]);
  });
});
