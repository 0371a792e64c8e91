import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleCall, seededRandom } from '../../packages/service/src/main/demo/sample-traffic.js';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const SUBJECT = 'c-42';
const TITLE = 'Team <b onclick=alert(1)>';

describe.runIf(hasBrowser)('limits in the console', () => {
  let opened: OpenConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ events: 1 });
    ({ page } = opened);
    await opened.signIn();
  });
  afterAll(() => opened?.close());

  const dialog = () => page.getByRole('dialog');
  const tab = async (name: string) => {
    await opened.goTo('Limits');
    await page.getByRole('navigation', { name: 'Limits' }).getByRole('link', { name }).click();
  };
  const showLimits = async (type: string) => {
    await opened.goTo('Limits');
    await page.getByLabel('Subject type').fill(type);
    await page.getByLabel('Subject ID').fill(SUBJECT);
    await page.getByRole('button', { name: 'Show limits' }).click();
  };
  const rule = (name: string) => page.getByRole('listitem', { name, exact: true });

  it('says what is wrong with a plan at its field, and saves it as a draft', async () => {
    await tab('Limit plans');
    await page.getByRole('button', { name: 'New limit plan' }).click();
    await page.getByLabel('Title').fill(TITLE);
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('team_b_onclick_alert_1');
    await page.getByRole('button', { name: 'Add rule' }).click();
    await rule('Rule 1').getByLabel('Name').fill('spend');
    await rule('spend').getByLabel('Limit', { exact: true }).fill('a lot');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await rule('spend').getByText('expected a decimal of at most 20 integer').waitFor();
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('400')]);
    await rule('spend').getByLabel('Limit', { exact: true }).fill('1,000');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByRole('heading', { name: TITLE }).waitFor();
    await page
      .getByRole('list', { name: 'Draft rules' })
      .getByText('1,000 USD of all usage per calendar month, alerts at 50 % and 80 %, blocks at 100 %')
      .waitFor();
  });

  it('publishes it, and says what changes', async () => {
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog().getByText('No route uses this plan yet').waitFor();
    await dialog().getByRole('list', { name: 'Changes' }).getByText('added').waitFor();
    await dialog().getByRole('button', { name: 'Publish' }).click();
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Published' }).getByText('revision 1').waitFor();
  });

  it('does not lose what was changed to a stray click', async () => {
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await rule('spend').getByRole('button', { expanded: false }).click();
    await rule('spend').getByLabel('Limit', { exact: true }).fill('2500');
    await opened.choose('Boards');
    await dialog().getByRole('button', { name: 'Stay' }).click();
    expect(await rule('spend').getByLabel('Limit', { exact: true }).inputValue()).toBe('2500');
  });

  it('duplicates, moves and removes rules by the keyboard, and publishes the next revision', async () => {
    const names = () => page.getByRole('region', { name: 'Rules' }).locator('ol > li').evaluateAll(labelsOf);
    const press = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    };
    await press('Duplicate spend');
    expect(await names()).toEqual(['spend', 'spend_2']);
    await press('Move spend_2 up');
    expect(await names()).toEqual(['spend_2', 'spend']);
    await rule('spend_2').getByLabel('Measure').selectOption('quantity');
    await rule('spend_2').getByLabel('Applies to', { exact: true }).selectOption('metric');
    await rule('spend_2').getByLabel('Metric', { exact: true }).fill('llm.output_tokens');
    await rule('spend_2').getByLabel('Period', { exact: true }).selectOption('duration');
    await rule('spend_2').getByLabel('When reached').selectOption('notify');
    await page.getByText('2,500 llm.output_tokens per 7 days').waitFor();
    await press('Duplicate spend');
    await press('Remove spend_3');
    expect(await names()).toEqual(['spend_2', 'spend']);
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByRole('list', { name: 'Draft changes' }).getByText('added').waitFor();
    await page.getByRole('button', { name: 'Publish' }).click();
    await dialog().getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('region', { name: 'Published' }).getByText('revision 2').waitFor();
  });

  it('compares revisions', async () => {
    await page.getByRole('button', { name: 'Changes in revision 2' }).click();
    const changes = page.getByRole('list', { name: 'Changes', exact: true });
    await changes.getByText('1,000', { exact: true }).waitFor();
    await changes.getByText('The new limit applies from the next window.').waitFor();
    await changes.getByText('2,500 llm.output_tokens per 7 days').waitFor();
  });

  it('archives a plan, finds it there, and restores it', async () => {
    await page.getByRole('button', { name: 'Actions for this plan' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await dialog().getByText('so no subject loses a limit').waitFor();
    await dialog().getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('button', { name: 'Restore' }).waitFor();
    await tab('Limit plans');
    await page.getByRole('link', { name: 'Starter' }).waitFor();
    await page.getByLabel('Search limit plans').fill('onclick');
    await page.getByText('No matching plans').waitFor();
    await page.getByLabel('Plan status').selectOption('archived');
    await page.getByRole('link', { name: TITLE }).click();
    await page.getByRole('button', { name: 'Restore' }).click();
    await dialog().getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  });

  it('routes a subject, and gives its route a limit of its own', async () => {
    await tab('Routes');
    await page.getByRole('button', { name: 'New route' }).click();
    await dialog().getByLabel('Subject type').fill('customer');
    await dialog().getByLabel('Subject ID').fill(SUBJECT);
    await dialog().getByLabel('Plan').selectOption({ label: TITLE });
    await dialog().getByLabel('Timezone').selectOption('Europe/Berlin');
    await dialog().getByRole('button', { name: 'Create route' }).click();
    await page.getByRole('heading', { name: `customer/${SUBJECT}` }).waitFor();
    await page.getByRole('button', { name: 'Add limit' }).click();
    await dialog().getByLabel('Name').fill('burst');
    await dialog().getByLabel('Period', { exact: true }).selectOption('lifetime');
    await dialog().getByLabel('Limit', { exact: true }).fill('0.000001');
    await dialog().getByLabel('When reached').selectOption('notify');
    await dialog().getByRole('button', { name: 'Add limit' }).click();
    await page
      .getByText('0.000001 USD of all usage in total, alerts only, at 50 %, 80 % and 100 %')
      .waitFor();
  });

  it('says which route a subject has, and why', async () => {
    await tab('Routes');
    const who = page.getByRole('region', { name: 'Find a route' });
    await who.getByLabel('Subject type').fill('customer');
    await who.getByLabel('Subject ID').fill(SUBJECT);
    await who.getByRole('button', { name: 'Find route' }).click();
    await who.getByText('It takes precedence over the route for every customer.').waitFor();
    await who.getByLabel('Subject ID').fill('somebody');
    await who.getByRole('button', { name: 'Find route' }).click();
    await who.getByText('so the route for every customer applies').waitFor();
    await page.getByLabel('Filter by ID').fill('nobody');
    await page.getByText('No matching routes').waitFor();
  });

  it('warns about a route of a type that no usage has, until the route is gone', async () => {
    await page.getByRole('button', { name: 'New route' }).click();
    await dialog().getByLabel('Subject type').fill('custmer');
    await dialog().getByLabel('Subject ID').fill(SUBJECT);
    await dialog().getByRole('button', { name: 'Create route' }).click();
    await page.getByRole('heading', { name: `custmer/${SUBJECT}` }).waitFor();
    const warnings = page.getByRole('region', { name: 'Saved, with warnings' });
    await warnings.getByText('has the subject type custmer yet').waitFor();
    await page.getByRole('button', { name: 'Actions for this route' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog().getByRole('button', { name: 'Delete route' }).click();
    await warnings.waitFor({ state: 'detached' });
    await page.getByLabel('Filter by ID').waitFor();
  });

  it('says that a subject has no route, and so neither limits nor somebody who pays', async () => {
    await showLimits('custmer');
    await page.getByRole('note').getByText('nobody pays for it and no limit counts it').waitFor();
    await page.getByRole('heading', { name: 'No route, so no limits' }).waitFor();
    const { settings } = opened.client.project(opened.tenant.projectId);
    await settings.update({ unknown_subjects: 'deny' });
    await page.reload();
    await page.getByRole('note').getByText('The project denies its checks and leases.').waitFor();
    await settings.update({ unknown_subjects: 'allow' });
  });

  it('shows a limit that usage crosses', async () => {
    await showLimits('customer');
    await page.getByText('No alerts in the last 30 days.').waitFor();
    const call = { ...sampleCall(0, seededRandom(1)), customer: SUBJECT };
    await opened.client.project(opened.tenant.projectId).batchIngest({
      source: 'limits',
      events: [
        {
          extractor_rule_set_id: opened.tenant.ruleSetId,
          occurred_at: Math.floor(Date.now() / 1_000),
          idempotency_key: 'limits-1',
          raw_json: call,
        },
      ],
    });
    const burst = page
      .getByRole('list', { name: 'Limits' })
      .getByRole('listitem')
      .filter({ hasText: 'in total burst' });
    await burst.getByText('exceeded').waitFor();
    const crossings = page.getByRole('table').filter({ hasText: 'Used at that time' });
    await crossings.getByRole('row', { name: /100 %.* 0\.000001 USD/ }).waitFor();
    await crossings.getByText('usage_limit.exceeded').waitFor();
    expect(await crossings.getByRole('row').count()).toBe(4);
  });

  it('tests a draft on past usage, and shows who would have been blocked, and by which event', async () => {
    const { usage, usageLimitPlans } = opened.client.project(opened.tenant.projectId);
    await waitFor(async () => (await usage.events({ subject_id: SUBJECT })).events.length > 0);
    await tab('Limit plans');
    await page.getByRole('link', { name: TITLE }).click();
    await page.getByRole('heading', { name: TITLE }).waitFor();
    const planId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const spend = { limit_key: 'spend', selector_type: 'all', measure: 'amount', currency: 'USD' } as const;
    await usageLimitPlans.update(planId, {
      rules: [{ ...spend, period: 'month', limit_amount: '0.000001', action: 'block' }],
    });
    await page.reload();
    const backtest = page.getByRole('region', { name: 'Backtest', exact: true });
    await backtest.getByText('of the draft').waitFor();
    await backtest.getByRole('button', { name: 'Backtest' }).click();
    const found = backtest.getByRole('row').filter({ hasText: 'blocked' });
    const event = await found.getByRole('link', { name: 'Show event' }).getAttribute('href');
    expect([event, await found.count()]).toEqual([expect.stringContaining('/usage?event=evt_'), 1]);
    const earlier = page.getByRole('region', { name: 'Backtests of this plan' }).getByRole('row');
    await earlier.filter({ hasText: 'Draft' }).getByText('succeeded').waitFor();
    await page.reload();
    await earlier.filter({ hasText: 'Draft' }).getByRole('button').click();
    await found.getByRole('link', { name: `customer/${SUBJECT}` }).click();
    await page.getByRole('list', { name: 'Limits' }).waitFor();
  });

  it('cancels a backtest that takes long, and lists it as cancelled', async () => {
    await page.goBack();
    // A backtest of this little usage would end before anybody could cancel it: the page is shown one that runs.
    const cancelled: string[] = [];
    const one = /\/backtests\/bt_[^/]*$/;
    await page.route(one, async (route) => {
      const isCancel = route.request().method() === 'DELETE';
      if (isCancel) cancelled.push(route.request().url());
      const response = await route.fetch({ method: 'GET' });
      const status = cancelled.length > 0 ? 'cancelled' : 'running';
      const shown = { ...(await response.json()), status, results: [], finished_at: null };
      await route.fulfill({ response, json: shown });
    });
    const backtest = page.getByRole('region', { name: 'Backtest', exact: true });
    await backtest.getByRole('button', { name: 'Backtest' }).click();
    await backtest.getByRole('button', { name: 'Cancel' }).click();
    await backtest.getByText('The backtest was cancelled.').waitFor();
    expect(cancelled).toHaveLength(1);
    await page.unroute(one);
  });

  it('hangs a subject below another one, shows both, and says which limit of which level blocks it', async () => {
    const { subjectRoutes } = opened.client.project(opened.tenant.projectId);
    const org = await subjectRoutes.create({ subject_type: 'org', subject_id: 'acme' });
    const zero = { limit_key: 'frozen', selector_type: 'all', measure: 'amount', currency: 'USD' } as const;
    await subjectRoutes.createLimit(org.id, { ...zero, period: 'month', limit_amount: '0', action: 'block' });
    await tab('Routes');
    await page.getByRole('link', { name: `customer/${SUBJECT}` }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialog().getByLabel('Parent type').fill('org');
    await dialog().getByLabel('Parent ID').fill('acm');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().getByText('expected a subject with a route').waitFor();
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('400')]);
    await dialog().getByLabel('Parent ID').fill('acme');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    await showLimits('customer');
    const levels = page.getByRole('region', { name: 'Levels' });
    await levels.getByText(`customer/${SUBJECT}`).waitFor();
    await page.getByRole('list', { name: 'Limits of level 1' }).getByText('All usage').waitFor();
    const why = page.getByRole('region', { name: 'Why usage is blocked' });
    await why.getByText('frozen').waitFor();
    await levels.getByRole('link', { name: 'org/acme' }).click();
    await levels.getByRole('link', { name: `customer/${SUBJECT}` }).waitFor();
  });

  it('fits a narrow screen', async () => {
    await page.setViewportSize({ width: 360, height: 780 });
    const limits = `${opened.service.url}/p/${opened.tenant.projectId}/limits`;
    for (const path of ['', `?type=customer&id=${SUBJECT}`, '/routes', '/plans', '/plans/new', '/leases']) {
      await page.goto(limits + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(360);
    }
  });

  it('breaks no content policy and logs no error', () => {
    expect(opened.problems).toEqual([]);
  });
});

function labelsOf(items: { getAttribute(name: string): string | null }[]): (string | null)[] {
  return items.map((item) => item.getAttribute('aria-label'));
}
