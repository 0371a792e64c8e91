import { readFileSync } from 'node:fs';
import { WEBHOOK_OWN_EVENTS } from '@tollgate/contract';
import { verifyWebhook } from '@tollgate/sdk';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLAIN_CODE } from '../../packages/console/src/features/webhooks/signature-code.js';
import { type Receiver, startReceiver } from '../../packages/service/src/testing/receiver.js';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const DESCRIPTION = '<img src=x onerror=alert(1)>';

it('shows the code of the guide to webhooks, which a test runs', () => {
  const guide = new URL('../../docs/guides/webhooks.md', import.meta.url);
  expect(readFileSync(guide, 'utf8')).toContain(PLAIN_CODE);
});

describe.runIf(hasBrowser)('webhooks in the console', () => {
  let opened: OpenConsole;
  let page: Page;
  let receiver: Receiver;
  /** Status of the receiver's responses from now on. */
  let status = 204;
  let secret = '';

  beforeAll(async () => {
    receiver = await startReceiver(() => status);
    opened = await openConsole({ events: 1, env: () => ({ TOLLGATE_WEBHOOK_ALLOW_PRIVATE: '1' }) });
    ({ page } = opened);
    await opened.signIn();
    await opened.goTo('Webhooks');
  });
  afterAll(async () => {
    await opened?.close();
    await receiver?.close();
  });

  const rows = (): Locator => page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr');
  const warnings = (): Locator => page.getByRole('region', { name: 'Saved, with warnings' });
  const shown = (outcome: string): Promise<void> => rows().first().getByText(outcome).waitFor();

  it('says at its field what is wrong with a URL', async () => {
    await page.getByText('No endpoints yet').waitFor();
    await page.getByRole('button', { name: 'New endpoint' }).click();
    const dialog = page.getByRole('dialog', { name: 'New endpoint' });
    await dialog.getByLabel('URL').fill('ftp://hooks.example.com/');
    await dialog.getByRole('button', { name: 'Create endpoint' }).click();
    await dialog.getByText(/^expected/).waitFor();
    expect(await dialog.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('400')]);
  });

  it('makes an endpoint, and shows its secret once', async () => {
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByLabel('Events', { exact: true }).selectOption('Selected events');
    for (const name of WEBHOOK_OWN_EVENTS.filter((type) => type !== 'usage_limit.exceeded'))
      await dialog.getByRole('button', { name }).click();
    await dialog.getByLabel('Custom events').fill('spend.alert');
    await dialog.getByLabel('Description').fill(DESCRIPTION);
    await dialog.getByRole('button', { name: 'Create endpoint' }).click();
    secret = (await dialog.getByText(/^whsec_/).textContent()) ?? '';
    // A stray click does not take it away.
    await page.mouse.click(5, 5);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { name: new URL(receiver.url).host }).waitFor();
    await page.getByText(DESCRIPTION).waitFor();
    await page.getByText('usage_limit.exceeded, spend.alert').waitFor();
    expect(await page.title()).toContain(new URL(receiver.url).host);
    await warnings().getByText('sends the event spend.alert yet').waitFor();
    expect(await warnings().getByRole('listitem').count()).toBe(1);
  });

  it('sends a test that arrives, and shows what was posted', async () => {
    await page.getByRole('button', { name: 'Send test' }).click();
    await shown('delivered');
    const [message] = receiver.received;
    const told = verifyWebhook(secret, message?.headers ?? {}, message?.body ?? '');
    expect(told.type).toBe('webhook.test');
    // A test saves nothing, so that it takes no warning away.
    expect(await warnings().count()).toBe(1);
    await warnings().getByRole('button', { name: 'Close warnings' }).click();
    await warnings().waitFor({ state: 'detached' });
    await rows().first().getByRole('button').click();
    const dialog = page.getByRole('dialog', { name: 'Delivery' });
    await dialog.getByText(`webhook-id: ${told.id}`).waitFor();
    await dialog.getByText('HTTP 204').waitFor();
    await page.reload();
    await dialog.getByText('HTTP 204').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('shows that messages do not get through, and delivers one again', async () => {
    status = 500;
    await page.getByRole('button', { name: 'Send test' }).click();
    await shown('retrying');
    await page.getByText(/^failing since/).waitFor();
    await opened.goTo('Webhooks');
    await page.getByRole('img', { name: '1 of the last 2 delivered' }).waitFor();
    await page.getByRole('link', { name: receiver.url }).click();
    status = 204;
    await rows().first().getByRole('button').click();
    const dialog = page.getByRole('dialog', { name: 'Delivery' });
    await dialog.getByText('HTTP 500').waitFor();
    await dialog.getByRole('button', { name: 'Redeliver' }).click();
    await dialog.getByText('HTTP 204').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('enabled', { exact: true }).waitFor();
  });

  it('changes the secret, and says how long the one before counts', async () => {
    await page.getByRole('button', { name: 'Actions for this endpoint' }).click();
    await page.getByRole('menuitem', { name: 'Rotate secret' }).click();
    await page
      .getByRole('dialog', { name: 'Rotate the secret?' })
      .getByRole('button', { name: 'Rotate secret' })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Copy the new secret now' });
    const next = (await dialog.getByText(/^whsec_/).textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText(/^previous secret valid until/).waitFor();
    const before = receiver.received.length;
    await page.getByRole('button', { name: 'Send test' }).click();
    await waitFor(async () => receiver.received.length > before, { what: 'the message' });
    const { headers, body } = receiver.received[before] ?? { headers: {}, body: '' };
    for (const each of [secret, next]) expect(verifyWebhook(each, headers, body).type).toBe('webhook.test');
  });

  it('is enabled again after it was gone, and sends what was lost', async () => {
    status = 410;
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('disabled: responded with 410').first().waitFor();
    expect(await page.getByRole('button', { name: 'Send test' }).isDisabled()).toBe(true);
    status = 204;
    await page.getByRole('button', { name: 'Enable endpoint' }).click();
    await page.getByText(/^failing since/).waitFor();
    await page.getByLabel('Status').selectOption('Failed');
    await rows().first().waitFor();
    await page.getByRole('button', { name: /^Redeliver failed/ }).click();
    await page.getByRole('dialog').getByText('1 failed or cancelled message.').waitFor();
    await page.getByRole('button', { name: 'Redeliver 1', exact: true }).click();
    await page.getByText('No failed deliveries').waitFor();
    await page.getByLabel('Status').selectOption('All deliveries');
    await shown('delivered');
    await page.getByText('enabled', { exact: true }).waitFor();
  });

  it('is edited and deleted', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit endpoint' });
    expect(await dialog.getByLabel('Custom events').inputValue()).toBe('spend.alert');
    await dialog.getByLabel('Events', { exact: true }).selectOption('All events');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('all events', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Actions for this endpoint' }).click();
    await page.getByRole('menuitem', { name: 'Delete endpoint' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete endpoint' }).click();
    await page.getByText('No endpoints yet').waitFor();
  });

  it('breaks no content policy and logs no error', () => {
    expect(opened.problems).toEqual([]);
  });
});
