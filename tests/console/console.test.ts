import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { CUSTOMER, hasBrowser, type OpenConsole, openConsole } from '../support/console.js';
import { putFirst } from '../support/move-by-keyboard.js';

const EVENTS = 30;

describe.runIf(hasBrowser)('the console', () => {
  let opened: OpenConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ events: EVENTS });
    ({ page } = opened);
  });
  afterAll(() => opened?.close());

  it('leads who is not signed in to the sign-in page, and refuses a wrong key', async () => {
    await page.goto(opened.service.url);
    await page.getByLabel('API key').fill('tg_live_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Invalid or revoked API key.').waitFor();
    // The browser logs the refusal itself.
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  it('signs in by the link that the demo prints, and takes the key out of the address', async () => {
    await opened.signIn();
    expect(page.url()).toBe(`${opened.service.url}/p/${opened.tenant.projectId}/boards`);
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  it('comes up in a browser that names a language which there is not', async () => {
    const another = await opened.openAnother();
    await another.addInitScript(
      `Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' });`,
    );
    await another.reload();
    await another.getByRole('heading', { name: 'Boards' }).waitFor();
    await another.close();
  });

  it.each(['no-preference', 'reduce'] as const)(
    'says so when it cannot start (motion: %s)',
    async (motion) => {
      const another = await opened.openAnother();
      await another.emulateMedia({ reducedMotion: motion });
      const note = another.getByText('The console has not started');
      expect(await note.count()).toBe(0);
      await another.route(/\/assets\/index-[^/]*\.js$/, (route) => route.abort());
      await another.reload();
      await note.waitFor({ state: 'attached' });
      // Not seen at once, where the console is only about to start.
      const seen = await another.evaluate(`(() => {
        const note = document.querySelector('#root > p');
        const [late] = note.getAnimations();
        late.pause();
        return [4_999, 5_000].map((ms) => {
          late.currentTime = ms;
          return getComputedStyle(note).visibility;
        });
      })()`);
      expect(seen).toEqual(['hidden', 'visible']);
      await another.getByRole('link', { name: '/docs' }).waitFor();
      await another.close();
      expect(opened.problems.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')]);
    },
  );

  it('keeps what is around a page that cannot be loaded, and shows it once it can', async () => {
    const code = /\/usage-pages-[^/]*\.js$/;
    await page.route(code, (route) => route.abort());
    await opened.choose('Usage');
    const failure = page.getByRole('alert');
    await failure.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await waitFor(async () => (await page.title()).startsWith('Not available'));
    await opened.goTo('Boards');
    expect(await failure.count()).toBe(0);
    await opened.choose('Usage');
    await failure.waitFor();
    await page.unroute(code);
    await failure.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    await opened.goTo('Boards');
    const problems = opened.problems.splice(0);
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) expect(problem).toMatch(/usage-pages|ERR_FAILED/);
  });

  it('says so when all of it fails, too', async () => {
    const another = await opened.openAnother();
    const projects = /\/v1\/projects(\?|$)/;
    // A name that is no text breaks the navigation, which stands outside of every page.
    const broken = { projects: [{ id: opened.tenant.projectId, name: {} }], total_count: 1 };
    await another.route(projects, (route) => route.fulfill({ json: broken }));
    await another.reload();
    await another.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    expect(await another.getByRole('navigation').count()).toBe(0);
    await another.unroute(projects);
    await another.getByRole('button', { name: 'Reload' }).click();
    await another.getByRole('heading', { name: 'Boards', level: 1 }).waitFor();
    await another.close();
    expect(opened.problems.splice(0)).not.toEqual([]);
  });

  it('draws the charts of a board, and shows their numbers as a table', async () => {
    await page.getByRole('link', { name: /LLM usage/ }).click();
    const chart = page.getByRole('region', { name: 'Requests by model' });
    await chart.locator('canvas').waitFor();
    await chart.getByRole('button', { name: 'Actions for Requests by model' }).click();
    await page.getByRole('menuitem', { name: 'View as table' }).click();
    await chart.getByRole('rowheader', { name: 'Total' }).waitFor();
  });

  it('says that a dialog is on its way, and lets nothing else be opened meanwhile', async () => {
    let send = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      send = resolve;
    });
    await page.route(/\/board-dialogs-[^/]*\.js$/, (route) => held.then(() => route.continue()));
    await page.getByRole('button', { name: 'Add chart' }).click();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await page.evaluate(`document.elementFromPoint(9, 9)?.ariaLabel`)).toBe('Loading');
    const shade = await page.evaluate('getComputedStyle(document.elementFromPoint(9, 9)).backgroundColor');
    expect(shade).not.toBe('rgba(0, 0, 0, 0)');
    send();
    await page.getByRole('dialog', { name: 'New chart' }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
  });

  it('makes a chart from what was used, shows it beforehand, and deletes it', async () => {
    const editor = page.getByRole('dialog', { name: 'New chart' });
    await editor.getByLabel('Title').fill('<img src=x onerror=alert(1)>');
    await editor.getByLabel('Metrics', { exact: true }).selectOption('Chosen metrics, separately');
    await editor.getByRole('button', { name: 'llm.output_tokens', exact: true }).first().click();
    await editor.getByRole('button', { name: 'model', exact: true }).click();
    await editor.getByRole('region', { name: 'Preview' }).locator('canvas').waitFor();
    await editor.getByRole('button', { name: 'Add chart' }).click();
    const chart = page.getByRole('region', { name: '<img src=x onerror=alert(1)>' });
    await chart.locator('canvas').waitFor();
    await chart.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete chart' }).click();
    await chart.waitFor({ state: 'detached' });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('moves a chart by the keyboard, and finds it there again', async () => {
    const titles = async () =>
      (await page.getByRole('heading', { level: 2 }).allTextContents()).filter((title) => title !== '');
    const before = await titles();
    const saved = page.waitForResponse((response) => response.url().endsWith('/order') && response.ok());
    await putFirst(page, before[1] ?? '');
    await saved;
    const expected = [before[1], before[0], ...before.slice(2)];
    await waitFor(async () => (await titles()).join() === expected.join(), { what: 'the new order' });
  });

  it('shows events, and how the numbers of one came about', async () => {
    await opened.goTo('Usage');
    await page.getByLabel('Source').fill('console-test');
    await page.getByRole('row').nth(EVENTS).waitFor();
    await page.getByRole('row').nth(1).getByRole('button').click();
    const event = page.getByRole('dialog', { name: 'Event' });
    await event.getByText('$.usage.output_tokens').waitFor();
    await event.getByText(`"customer": "${CUSTOMER}"`).waitFor();
    await page.keyboard.press('Escape');
  });

  it('shows where a subject stands', async () => {
    await opened.goTo('Limits');
    await page.getByLabel('Subject type').fill('customer');
    await page.getByLabel('Subject ID').fill(CUSTOMER);
    await page.getByRole('button', { name: 'Show limits' }).click();
    await page
      .getByRole('list', { name: 'Limits' })
      .getByText(/ left$/)
      .first()
      .waitFor();
  });

  it('adds credit to a wallet, and leads from the ledger to the events', async () => {
    await opened.goTo('Billing');
    await page.getByRole('table').getByRole('link').first().click();
    await page.getByRole('button', { name: 'Add credit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add credit' });
    await dialog.getByLabel('Amount').fill('12.5');
    await dialog.getByRole('button', { name: 'Add credit' }).click();
    await dialog.waitFor({ state: 'detached' });
    const ledger = page.getByRole('region', { name: 'Ledger', exact: true });
    await ledger.getByRole('cell', { name: '12.5 USD', exact: true }).waitFor();
    await ledger.getByRole('link', { name: 'Usage' }).first().click();
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    await page
      .getByRole('cell', { name: `customer/${CUSTOMER}` })
      .first()
      .waitFor();
  });

  it('makes a key that is shown once, and revokes it', async () => {
    await opened.goTo('Settings');
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('gateway');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText(/^tg_(live|test)_/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Revoke gateway' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('button', { name: 'Revoke gateway' }).waitFor({ state: 'detached' });
  });

  it('signs out, and keeps nothing', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/usage`);
    await page.getByLabel('API key').waitFor();
  });

  it('breaks no content policy, logs no error and loads nothing from elsewhere', () => {
    expect(opened.problems).toEqual([]);
  });
});
