import axe, { type AxeResults, type RunOnly } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CUSTOMER, hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const WIDE = { width: 1_280, height: 900 };
const NARROW = { width: 360, height: 780 };
const ALL_RULES: RunOnly = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] };
/** All that a theme can change. */
const CONTRAST: RunOnly = { type: 'rule', values: ['color-contrast'] };
/** Few, because axe looks at each row of a list. */
const EVENTS = 6;
/** More kinds of pages than there are: the search for them ends. */
const PAGES_MAX = 60;

/** A finding on one page, in the words that a developer needs. */
type Finding = string;

describe.runIf(hasBrowser)('every page of the console', () => {
  let opened: OpenConsole;
  let page: Page;
  let project: string;

  beforeAll(async () => {
    opened = await openConsole({ events: EVENTS });
    ({ page } = opened);
    await page.addInitScript({ content: axe.source });
    await opened.signIn();
    project = `/p/${opened.tenant.projectId}`;
    // A plan, so that the list of corrections leads to one.
    const { corrections } = opened.client.project(opened.tenant.projectId);
    const filter = { from: 0, to: Math.floor(Date.now() / 1_000) };
    const plan = await corrections.create({ action: 'void', filter, reason: 'Sent twice', dry_run: true });
    await corrections.untilEnded(plan.id);
  });
  afterAll(() => opened?.close());

  it('can be read, heard and operated, in both themes, wide and narrow', async () => {
    const waiting = [`${project}/boards`, `${project}/start`];
    const kinds = new Set<string>(waiting.map(kindOf));
    const findings: Finding[] = [];
    await open(`${project}/boards`);
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      await goOn(path);
      findings.push(...(await look(path)));
      for (const link of await linksOf(page)) {
        if (!link.startsWith(`${project}/`) || kinds.has(kindOf(link))) continue;
        kinds.add(kindOf(link));
        waiting.push(link);
      }
    }
    expect(findings).toEqual([]);
    // The parts of the navigation, and a page of one thing in most of them.
    expect(kinds.size).toBeGreaterThan(12);
    expect(kinds.size).toBeLessThan(PAGES_MAX);
  }, 180_000);

  it.each([
    ['the editor of charts', 'Add chart', 'dialog'],
    ['the choice of a range', 'Last 24 hours', 'dialog'],
    ['the menu of a board', 'Actions for this board', 'menu'],
  ] as const)('is so with %s open, too', async (_what, button, role) => {
    await open(`${project}/boards`);
    await page.getByRole('link', { name: /LLM usage/ }).click();
    await page.getByRole('button', { name: button }).click();
    await page.getByRole(role).waitFor();
    // The page behind it is out of reach for as long as it is open.
    expect(await look(button, `[role=${role}]`)).toEqual([]);
  });

  it('is so with a chart as a table, whose numbers are links', async () => {
    await open(`${project}/boards`);
    await page.getByRole('link', { name: /LLM usage/ }).click();
    await page.getByRole('button', { name: 'Actions for Amount by model' }).click();
    await page.getByRole('menuitem', { name: 'View as table' }).click();
    const table = page.getByRole('region', { name: 'Amount by model as a table' });
    await table.getByRole('link').first().waitFor();
    expect(await look('a chart as a table', '[aria-label="Amount by model"]')).toEqual([]);
    await table.getByRole('link').first().click();
    await page.getByRole('region', { name: 'Total', exact: true }).getByText('USD').waitFor();
    expect(await look('the events of an amount')).toEqual([]);
  });

  it.each([
    ['the correction of matching events', '?correct=matching', undefined],
    ['an event', '', undefined],
    ['the replacement of an event', '', 'Replace…'],
    ['the voiding of an event', '', 'Void…'],
  ])('is so with %s open, too', async (what, search, action) => {
    await open(`${project}/usage`);
    if (search !== '') await page.goto(`${opened.service.url}${project}/usage${search}`);
    else {
      await page.getByRole('region', { name: 'Events' }).locator('tbody button').first().click();
      await page.getByRole('dialog').getByRole('region', { name: 'Calculation' }).waitFor();
    }
    if (action !== undefined) await page.getByRole('button', { name: action }).click();
    // A dialog below another one is hidden.
    const uppermost = '[role=dialog]:not([aria-hidden])';
    await page.locator(uppermost).getByRole('heading').first().waitFor();
    expect(await look(what, uppermost)).toEqual([]);
  });

  it('is so with the tree of a lease, and the form of a part of it', async () => {
    const { budgetLeases } = opened.client.project(opened.tenant.projectId);
    const work = { subject_type: 'customer', subject_id: CUSTOMER, currency: 'USD', ttl_seconds: 3_600 };
    const lease = await budgetLeases.create({ ...work, amount: '0.2' });
    await budgetLeases.create({ ...work, amount: '0.1', parent_lease_id: lease.id });
    await open(`${project}/limits/leases/${lease.id}`);
    await page.getByRole('region', { name: 'Lease tree' }).waitFor();
    expect(await look('a lease')).toEqual([]);
    await page.setViewportSize(WIDE);
    await page.getByRole('button', { name: 'Open part' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Add hold' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Add dimension' }).click();
    expect(await look('a part of a lease', '[role=dialog]')).toEqual([]);
  });

  it('is so with the form of an account, and an error in its metadata', async () => {
    const [account] = (await opened.client.project(opened.tenant.projectId).accounts.list()).accounts;
    await open(`${project}/billing/${account?.id}`);
    await page.getByRole('button', { name: 'Edit account' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Metadata' }).fill('[]');
    await page.getByRole('dialog').getByText('Expected a JSON object').waitFor();
    expect(await look('the form of an account', '[role=dialog]')).toEqual([]);
  });

  it('is so with the price of a rule, its curve, and the grid of model prices', async () => {
    await open(`${project}/rules`);
    await page.getByRole('link', { name: 'Model prices' }).click();
    await page
      .getByRole('listitem')
      .getByRole('button', { name: /^gpt-5/ })
      .first()
      .click();
    const price = page.getByRole('region', { name: 'Price', exact: true });
    await price.getByRole('slider').waitFor();
    await price.getByLabel('Price model').selectOption('Volume tiers');
    await price.getByLabel('Price of').selectOption('Total over a period');
    await price.getByLabel('Tier 1: up to').fill('x');
    await price.getByText('Enter a number such as 0.25.').first().waitFor();
    expect(await look('the price of a rule')).toEqual([]);
    await page.setViewportSize(WIDE);
    await page.getByRole('button', { name: 'Model prices', exact: true }).click();
    await page.getByRole('region', { name: 'Prices by model' }).waitFor();
    expect(await look('the grid of model prices')).toEqual([]);
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    // The browser logs the refusals of rules that are being written.
    opened.problems.splice(0);
  });

  it('shows where the focus is', async () => {
    await open(`${project}/boards`);
    const unseen: string[] = [];
    for (let step = 0; step < 25; step++) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate<{ name: string; isSeen: boolean }>(FOCUSED);
      if (!focused.isSeen) unseen.push(focused.name);
    }
    expect(unseen).toEqual([]);
  });

  it('breaks no content policy and logs no error', () => {
    expect(opened.problems).toEqual([]);
  });

  async function open(path: string): Promise<void> {
    await page.setViewportSize(WIDE);
    await page.goto(opened.service.url + path);
    await untilShown();
  }

  /** Opens a page as its link does: to load the console, and axe, takes longer than to look at a page. */
  async function goOn(path: string): Promise<void> {
    await page.setViewportSize(WIDE);
    const goTo = (address: string) => page.evaluate(`history.pushState(null, '', '${address}')`);
    // Between two pages, because the heading of the one before may stay for a while.
    await goTo(`${project}/absent`);
    const note = page.getByText('The address may be incomplete');
    await note.waitFor();
    await goTo(path);
    await note.waitFor({ state: 'detached' });
    await untilShown();
  }

  /** Waits until a page is loaded, and shows no result of the page before. */
  async function untilShown(): Promise<void> {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.animate-pulse, .opacity-50').first().waitFor({ state: 'detached' });
  }

  async function look(what: string, within = 'html'): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (const viewport of [WIDE, NARROW]) {
      await page.setViewportSize(viewport);
      for (const theme of ['light', 'dark'] as const) {
        await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
        const where = `${kindOf(what)}, ${theme}, ${viewport.width} px`;
        findings.push(
          ...(await violations(page, within, theme === 'light' ? ALL_RULES : CONTRAST)).map(
            (violation) => `${where}: ${violation}`,
          ),
        );
      }
      const over = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      if (over > 0) findings.push(`${kindOf(what)}, ${viewport.width} px: ${over} px too wide`);
    }
    return findings;
  }
});

/** Pages of the same kind differ by ids alone. */
function kindOf(path: string): string {
  return path
    .replace(/[?#].*/, '')
    .split('/')
    .map((part) => (/^[a-z]{2,4}_|^[0-9a-f]{12,}$|\d{4,}/.test(part) ? ':id' : part))
    .join('/');
}

async function linksOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href]')].map((link) => new URL(link.href).pathname)`,
  );
}

async function violations(page: Page, within: string, runOnly: RunOnly): Promise<string[]> {
  const options = { runOnly, resultTypes: ['violations'] };
  const results = await page.evaluate<AxeResults>(`axe.run('${within}', ${JSON.stringify(options)})`);
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) =>
        `${id} at ${target.join(' ')}: ${failureSummary?.split('\n').at(1)?.trim()}`,
    ),
  );
}

/** Runs in the page. An outline or a frame shows where the focus is; the page's own body needs none. */
const FOCUSED = `(async () => {
  // With reduced motion a style takes a frame to come.
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const focused = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(focused);
  const isSeen = focused === document.body || (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0);
  return { name: focused.outerHTML.slice(0, 120), isSeen };
})()`;
