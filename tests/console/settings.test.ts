import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';
import { deliver, disputeOf, type PaidOrder, refundOf } from '../support/payment-reversals.js';

const XSS = '<img src=x onerror=alert(1)>';
const GONE = 401;
const WEBHOOK_SECRET = 'whsec_of_this_test';
/** Usage of so long ago is hidden under the plan Growth. */
const OLDER_THAN_GROWTH_S = 400 * 86_400;

describe.runIf(hasBrowser)('settings in the console', () => {
  let opened: OpenConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({
      events: 1,
      env: (url) => ({
        TOLLGATE_PAYMENT_PROVIDER: 'sandbox',
        TOLLGATE_PAYMENT_WEBHOOK_SECRET: WEBHOOK_SECRET,
        TOLLGATE_CHECKOUT_SUCCESS_URL: `${url}/?checkout=success`,
        TOLLGATE_CHECKOUT_CANCEL_URL: `${url}/?checkout=cancel`,
      }),
    });
    ({ page } = opened);
    await opened.signIn();
  });
  afterAll(() => opened?.close());

  const tab = (name: string) =>
    page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name }).click();
  const plan = () => page.getByRole('region', { name: 'Current plan' });
  const buy = (name: string) => page.getByRole('button', { name: `Buy ${name}` }).click();

  it('makes a project, leads to it, and back by the switcher', async () => {
    await opened.goTo('Settings');
    await page.getByRole('button', { name: 'New project' }).click();
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByLabel('Name').fill(XSS);
    await dialog.getByText('For testing').waitFor();
    await dialog.getByLabel('Kind').selectOption('Release');
    await dialog.getByText('For production').waitFor();
    await dialog.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('button', { name: `Project ${XSS}, switch project` }).waitFor();
    expect(page.url()).not.toContain(opened.tenant.projectId);
    await opened.goTo('Settings');
    await page.getByRole('region', { name: 'Projects' }).getByText('release').waitFor();
    await page.getByRole('button', { name: /switch project$/ }).click();
    await page.getByRole('menuitem').filter({ hasNotText: XSS }).first().click();
    await page.waitForURL(`${opened.service.url}/p/${opened.tenant.projectId}/settings`);
  });

  it('makes a key that may do some things for a while, and shows it once', async () => {
    await tab('API keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('gateway');
    await dialog.getByLabel('Expires').selectOption('In 30 days');
    await dialog.getByRole('button', { name: 'rules:read' }).click();
    await dialog.getByRole('button', { name: 'rules:write' }).click();
    expect(await dialog.getByRole('button', { name: 'rules:read' }).getAttribute('aria-pressed')).toBe(
      'false',
    );
    expect(await dialog.getByRole('button', { name: 'tenant:admin' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText(/^tg_(live|test)_/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row').filter({ hasText: 'gateway' });
    expect(await row.textContent()).toMatch(/usage:ingest.*rules:write/);
    await page.getByRole('button', { name: 'Revoke gateway' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('shows who changed what, and from what to what', async () => {
    const { webhookEndpoints } = opened.client.project(opened.tenant.projectId);
    const first = { url: 'https://hooks.example.com/a', event_types: ['*'] };
    const { id } = await webhookEndpoints.create(first);
    await webhookEndpoints.update(id, { ...first, url: 'https://hooks.example.com/b', description: XSS });
    await tab('Audit log');
    await page.getByLabel('Action').fill('webhook_endpoint.update');
    const log = page.getByRole('region', { name: 'Audit log' });
    await waitFor(async () => (await log.locator('tbody tr').count()) === 1, { what: 'the change' });
    await log.getByRole('button').click();
    const dialog = page.getByRole('dialog', { name: 'webhook_endpoint.update' });
    await dialog.getByText('url: "https://hooks.example.com/a"').waitFor();
    await dialog.getByText('url: "https://hooks.example.com/b"').waitFor();
    await dialog.getByText(`description: "${XSS}"`).waitFor();
    await dialog.getByRole('button', { name: 'Show all changes' }).click();
    await log.getByText('webhook_endpoint.create').waitFor();
    await page.reload();
    await log.getByText('webhook_endpoint.create').waitFor();
    expect(await log.locator('tbody tr').count()).toBe(2);
  });

  it('leaves a purchase, and goes on with it', async () => {
    await tab('Subscription plan');
    await plan().getByText('baseline').waitFor();
    await buy('Growth');
    const dialog = page.getByRole('dialog', { name: 'What you lose with Growth' });
    await dialog.getByText('Days of history: 365 instead of unlimited.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('listitem', { name: 'Launch' }).getByLabel('less than now').first().waitFor();
    await buy('Growth');
    await dialog.getByRole('button', { name: 'Buy Growth anyway' }).click();
    await page.getByRole('button', { name: 'Pay with a declined test card' }).click();
    await page.getByRole('alert').getByText('The card was declined').waitFor();
    await page.getByRole('link', { name: 'Cancel and go back' }).click();
    await page.getByText('No payment was made. Your plan has not changed.').waitFor();
    expect(page.url()).toContain(`/p/${opened.tenant.projectId}/settings/plan`);
    await plan().getByText('baseline').waitFor();
    await page.getByRole('button', { name: 'Continue checkout' }).click();
    await page.getByRole('button', { name: /^Pay \d/ }).waitFor();
  });

  it('pays a plan, and shows it once it is in force', async () => {
    const { client, tenant } = opened;
    const project = client.project(tenant.projectId);
    const old = await project.ingest(tenant.ruleSetId, {
      source: 'old',
      occurred_at: Math.floor(Date.now() / 1_000) - OLDER_THAN_GROWTH_S,
      raw_json: {},
    });
    await project.usage.event(old.raw_event_id, { wait_seconds: 10 });
    await page.getByRole('button', { name: /^Pay \d/ }).click();
    await page.getByText(/is paid and active until/).waitFor();
    await plan().getByText('active').waitFor();
    await plan().getByRole('heading', { name: 'growth' }).waitFor();
    await plan().getByText('Older usage has been hidden since your plan changed.').waitFor();
    await page.getByRole('region', { name: 'Payments' }).getByText('Tollgate Growth, one month').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText(/is paid and active/).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
  });

  it('buys another month by another checkout', async () => {
    await page.getByRole('button', { name: 'Buy another month' }).click();
    await page.getByRole('button', { name: /^Pay \d/ }).click();
    await page.getByText(/is paid and active until/).waitFor();
    const { url, serviceKey } = opened.service;
    const orders = `/admin/v1/tenants/${opened.tenant.tenantId}/payments/orders`;
    const answer = await fetch(url + orders, { headers: { authorization: `Bearer ${serviceKey}` } });
    expect(await answer.json()).toMatchObject({
      total_count: 2,
      orders: [{ status: 'paid' }, { status: 'paid' }],
    });
  });

  it('marks payments that were refunded, in part or whole, and disputed', async () => {
    const { service, tenant } = opened;
    const answer = await fetch(`${service.url}/admin/v1/tenants/${tenant.tenantId}/payments/orders`, {
      headers: { authorization: `Bearer ${service.serviceKey}` },
    });
    const { orders } = (await answer.json()) as { orders: [PaidOrder, PaidOrder] };
    const [later, earlier] = orders;
    for (const event of [refundOf(later, 500), refundOf(earlier), disputeOf(earlier)])
      expect(await deliver(service, WEBHOOK_SECRET, event)).toMatchObject({ status: 200 });
    await page.goto(`${service.url}/p/${tenant.projectId}/settings/plan`);
    const payments = page.getByRole('region', { name: 'Payments' }).getByRole('listitem');
    await payments.first().getByText('$5.00 refunded', { exact: true }).waitFor();
    expect(await payments.first().getByText('disputed').count()).toBe(0);
    await payments.last().getByText('$199.00 refunded', { exact: true }).waitFor();
    await payments.last().getByText('disputed', { exact: true }).waitFor();
    await plan().getByText('active').waitFor();
  });

  it('names everything that a smaller plan takes away before it is bought, and buys nothing unasked', async () => {
    const launch = page.getByRole('listitem', { name: 'Launch' });
    await launch.getByText('now 365').waitFor();
    await launch.getByText('now included').waitFor();
    expect(await page.getByRole('listitem', { name: 'Scale' }).getByLabel('less than now').count()).toBe(0);
    await buy('Launch');
    const dialog = page.getByRole('dialog', { name: 'What you lose with Launch' });
    await dialog.getByText('Days of history: 90 instead of 365.').waitFor();
    await dialog.getByText('Budget leases: not included.').waitFor();
    await dialog.getByText('Your plan growth ends immediately and its remaining time is lost.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await plan().getByRole('heading', { name: 'growth' }).waitFor();
  });

  it('says that plans cannot be bought where the service takes no payments', async () => {
    await page.route('**/v1/plans', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), payment_provider: null } });
    });
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/settings/plan`);
    await page.getByText('this service takes no payments').waitFor();
    await page.getByRole('listitem', { name: 'Launch' }).waitFor();
    expect(await page.getByRole('button', { name: /^Buy / }).count()).toBe(0);
    await page.unroute('**/v1/plans');
  });

  it('reports an address that leads nowhere', async () => {
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/nowhere`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect(await page.title()).toMatch(/^Page not found · .* · Tollgate$/);
    await page.getByRole('link', { name: 'Back to Boards' }).click();
    await page.getByRole('heading', { name: 'Boards' }).waitFor();
  });

  it('leads by keyboard past the navigation, and to the heading of another page', async () => {
    await page.reload();
    await page.getByRole('heading', { name: 'Boards' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('content');
    const link = page.getByRole('link', { name: 'Webhooks', exact: true });
    await link.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await page.waitForFunction("document.activeElement.tagName === 'H1'");
    expect(await link.getAttribute('aria-current')).toBe('page');
  });

  it('leads to the sign-in when the session has ended, and back', async () => {
    expect(opened.problems.splice(0)).toEqual([]);
    await opened.goTo('Billing');
    await page.getByRole('heading', { name: 'Billing' }).waitFor();
    await page.context().clearCookies();
    await opened.goTo('Webhooks');
    await page.getByText('Sign in to continue.').waitFor();
    await page.getByLabel('API key').fill(opened.tenant.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    // The browser logs refusals itself.
    expect(opened.problems.splice(0).filter((text) => !text.includes(String(GONE)))).toEqual([]);
  });

  it('shows every tenant to the service key, each project below its own', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill(opened.service.serviceKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: /switch project$/ }).click();
    await page.getByRole('menuitem').first().waitFor();
    await page.keyboard.press('Escape');
    expect(opened.problems).toEqual([]);
  });
});
