import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleCall, seededRandom } from '../../packages/service/src/main/demo/sample-traffic.js';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const SUBJECT = 'm-1';
const NAME = '"><script>alert(1)</script>';
const DAY_MS = 86_400_000;
const UNKNOWN_TIMEZONE = JSON.stringify({ timezone: 'Asia/Atlantis' });

describe.runIf(hasBrowser)('billing in the console', () => {
  let opened: OpenConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ events: 1 });
    ({ page } = opened);
    await opened.signIn();
  });
  afterAll(() => opened?.close());

  const dialog = () => page.getByRole('dialog');
  const wallet = () => page.getByRole('list', { name: 'Wallets' }).getByRole('listitem');
  const ledger = () => page.getByRole('region', { name: 'Ledger', exact: true });
  const facts = () => page.getByRole('region', { name: 'Account', exact: true });
  const accountId = () => page.url().split('/').at(-1) as string;

  it('makes an account, and finds it again by the id of the customer', async () => {
    await opened.goTo('Billing');
    await page.getByRole('button', { name: 'New account' }).click();
    await dialog().getByLabel('Name').fill(NAME);
    await dialog().getByLabel('External ID').fill('crm-42');
    await dialog().getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: NAME }).waitFor();
    await opened.goTo('Billing');
    await page.getByLabel('External ID').fill('crm-4');
    await page.getByText('No matching account').waitFor();
    await page.getByLabel('External ID').fill('crm-42');
    await page.getByRole('link', { name: NAME }).click();
    await facts().getByText('crm-42').waitFor();
  });

  it('edits an account, and shows its timezone and metadata', async () => {
    await page.getByRole('button', { name: 'Edit account' }).click();
    await dialog().getByLabel('Timezone').selectOption('Asia/Tokyo');
    const metadata = dialog().getByRole('textbox', { name: 'Metadata' });
    await metadata.fill('{"segment": ');
    await dialog().getByText('Invalid JSON').waitFor();
    expect(await dialog().getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await metadata.fill('{"segment": "enterprise"}');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    await facts().getByText('Asia/Tokyo').waitFor();
    await facts().getByText('segment: "enterprise"').waitFor();
    const { external_id, timezone } = await opened.client
      .project(opened.tenant.projectId)
      .accounts.get(accountId());
    expect({ external_id, timezone }).toEqual({ external_id: 'crm-42', timezone: 'Asia/Tokyo' });
  });

  it('shows at the field that the service does not know a timezone', async () => {
    // A newer browser lists timezones that the service does not have yet.
    await page.route(
      `**/accounts/${accountId()}`,
      (route) => route.continue({ postData: UNKNOWN_TIMEZONE }),
      {
        times: 1,
      },
    );
    await page.getByRole('button', { name: 'Edit account' }).click();
    await dialog().getByLabel('Timezone').selectOption('Asia/Seoul');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('expected the name of an IANA timezone').waitFor();
    expect(await dialog().getByLabel('Timezone').getAttribute('aria-invalid')).toBe('true');
    expect(await dialog().getByRole('alert').count()).toBe(0);
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('400')]);
    await dialog().getByLabel('Timezone').selectOption('Europe/Berlin');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    await facts().getByText('Europe/Berlin').waitFor();
  });

  it('opens a prepaid wallet', async () => {
    await page.getByRole('button', { name: 'Create wallet' }).click();
    await dialog().getByLabel('Currency').fill('usd');
    await dialog().getByRole('button', { name: 'Create wallet' }).click();
    await wallet().getByText('prepaid', { exact: true }).waitFor();
  });

  it('gives a credit that ends, and says when', async () => {
    await page.getByRole('button', { name: 'Add credit' }).click();
    await dialog().getByLabel('Amount').fill('100.000000000000000001');
    await dialog().getByLabel('Description').fill('Welcome');
    await dialog().getByLabel('Priority').fill('-1');
    const inTenDays = new Date(Date.now() + 10 * DAY_MS).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
    await dialog().getByLabel('Expires').fill(inTenDays);
    await dialog().getByRole('button', { name: 'Add credit' }).click();
    await dialog().waitFor({ state: 'detached' });
    await wallet().getByText('in credits expires soon').waitFor();
    await wallet().getByTitle('100.000000000000000001').first().waitFor();
    const credits = page.getByRole('region', { name: 'Credits in USD' });
    await credits.getByRole('cell', { name: 'expiring' }).waitFor();
    await credits.getByRole('cell', { name: '-1', exact: true }).waitFor();
    await page.getByText('newest first, also used and expired ones').waitFor();
  });

  it('takes out by hand what is there, and refuses more', async () => {
    await page.getByRole('button', { name: 'Adjust' }).click();
    await dialog().getByLabel('Amount').fill('-1,000');
    await dialog().getByLabel('Reason').fill('Charged outside');
    await dialog().getByRole('button', { name: 'Adjust' }).click();
    await dialog().getByText('100.000000000000000001 USD available').waitFor();
    expect(await dialog().getByLabel('Amount').getAttribute('aria-invalid')).toBe('true');
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('409')]);
    await dialog().getByLabel('Amount').fill('-25.5');
    await dialog().getByRole('button', { name: 'Adjust' }).click();
    await dialog().waitFor({ state: 'detached' });
    await wallet().getByTitle('74.500000000000000001').first().waitFor();
    await ledger().getByRole('cell', { name: 'Charged outside' }).waitFor();
    await ledger().getByRole('cell', { name: '-25.5 USD' }).waitFor();
  });

  it('leads from the ledger to the events that were paid', async () => {
    const project = opened.client.project(opened.tenant.projectId);
    await project.subjectRoutes.create({
      ...{ subject_type: 'customer', subject_id: SUBJECT },
      account_id: accountId(),
    });
    const occurred_at = Math.floor(Date.now() / 1_000);
    const raw_json = { ...sampleCall(0, seededRandom(1)), customer: SUBJECT };
    const event = {
      ...{ extractor_rule_set_id: opened.tenant.ruleSetId, idempotency_key: 'money-1' },
      ...{ occurred_at, raw_json },
    };
    await project.batchIngest({ source: 'money', events: [event] });
    await waitFor(async () => (await project.usage.events({ subject_id: SUBJECT })).events.length === 1, {
      timeoutMs: 120_000,
      what: 'the event',
    });
    await page.reload();
    await facts()
      .getByRole('link', { name: `customer/${SUBJECT}` })
      .waitFor();
    await ledger().getByLabel('Type').selectOption('usage');
    await ledger().getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('cell', { name: `customer/${SUBJECT}` }).waitFor();
    await page.goBack();
  });

  it('leads from a credit to the usage since, and to all lines of it', async () => {
    await page.getByRole('button', { name: 'View usage since Welcome' }).click();
    await ledger().getByText('since “Welcome” was added').waitFor();
    await ledger().getByRole('link', { name: 'Usage' }).waitFor();
    expect(await ledger().getByRole('cell', { name: 'Charged outside' }).count()).toBe(0);
    await ledger().getByRole('button', { name: 'Show all entries' }).click();
    await ledger().getByLabel('View').selectOption('');
    await ledger().getByRole('cell', { name: 'Adjustments' }).waitFor();
  });

  it('changes the mode of a wallet, and says what that means', async () => {
    await wallet().getByRole('button', { name: 'Switch to postpaid' }).click();
    await dialog().getByText('may fall below zero').waitFor();
    await dialog().getByRole('button', { name: 'Switch to postpaid' }).click();
    await wallet().getByText('postpaid', { exact: true }).waitFor();
  });

  it('counts a credit that expires soon behind a hundred newer ones', async () => {
    const { accounts } = opened.client.project(opened.tenant.projectId);
    const newer = Array.from({ length: 100 }, (_, index) =>
      accounts.credit(accountId(), 'USD', { amount: '0.01' }, { idempotencyKey: `newer-${index}` }),
    );
    await Promise.all(newer);
    await page.reload();
    await page.getByRole('region', { name: 'Credits in USD' }).getByText('active').first().waitFor();
    expect(await page.getByRole('cell', { name: 'expiring' }).count()).toBe(0);
    await wallet().getByText('in credits expires soon').waitFor();
  });

  it('leads to all routes to an account with many', async () => {
    const { subjectRoutes } = opened.client.project(opened.tenant.projectId);
    for (let index = 0; index < 10; index += 1)
      await subjectRoutes.create({
        ...{ subject_type: 'customer', subject_id: `m-more-${index}` },
        account_id: accountId(),
      });
    const accountPage = page.url();
    await page.reload();
    await facts().getByRole('link', { name: 'and 1 more' }).click();
    const routes = page.getByRole('region', { name: 'Routes' }).locator('tbody tr');
    await routes.nth(10).waitFor();
    expect(await routes.count()).toBe(11);
    await page.goto(accountPage);
  });

  it('fits a narrow screen, with the amounts of the ledger', async () => {
    await page.setViewportSize({ width: 360, height: 780 });
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    const { accounts } = opened.client.project(opened.tenant.projectId);
    await accounts.adjust(accountId(), 'USD', { amount: '-912.123456789012', reason: 'Charged outside' });
    await page.reload();
    const amount = ledger().getByRole('cell', { name: '-912.123456789012 USD' });
    await amount.waitFor();
    const { x = 0, width = 0 } = (await amount.boundingBox()) ?? {};
    expect(x + width).toBeLessThanOrEqual(360);
  });

  it('lists the balances of an account', async () => {
    const accountPage = page.url();
    const { accounts } = opened.client.project(opened.tenant.projectId);
    const { wallets } = await accounts.wallets(accountId());
    await page.goto(accountPage.replace(/\/[^/]*$/, ''));
    const row = page.getByRole('row').filter({ hasText: NAME });
    for (const { balance, currency } of wallets) await row.getByTitle(balance).getByText(currency).waitFor();
    await page.goto(accountPage);
  });

  it('offers no change to a key that may only read', async () => {
    const { service, tenant, client } = opened;
    const path = new URL(page.url()).pathname;
    const { key } = await client.tenant(tenant.tenantId).createApiKey({
      ...{ name: 'reader', project_id: tenant.projectId },
      permissions: ['analytics:read', 'wallets:read'],
    });
    await page.goto('about:blank');
    await page.goto(`${service.url}/sign-in#key=${key}`);
    await page.getByRole('heading', { name: 'Boards' }).waitFor();
    await page.waitForLoadState('networkidle');
    await page.goto(service.url + path);
    await facts().getByText('Europe/Berlin').waitFor();
    await wallet().getByText('postpaid', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^(Edit account|Add credit|Switch to)/ }).count()).toBe(0);
    expect(await facts().getByText('Subjects').count()).toBe(0);
  });

  it('breaks no content policy and logs no error', () => {
    expect(opened.problems).toEqual([]);
  });
});
