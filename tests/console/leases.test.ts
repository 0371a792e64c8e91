import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const TEAM = { subject_type: 'team', subject_id: 'research' };
const USER = { subject_type: 'user', subject_id: 'ann' };

describe.runIf(hasBrowser)('budget leases in the console', () => {
  let opened: OpenConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ events: 1 });
    ({ page } = opened);
    const { subjectRoutes } = opened.client.project(opened.tenant.projectId);
    const spend = { selector_type: 'all', measure: 'amount', currency: 'USD', action: 'block' } as const;
    const lifetime = { ...spend, period: 'lifetime' } as const;
    const team = await subjectRoutes.create(TEAM);
    await subjectRoutes.createLimit(team.id, { ...lifetime, limit_key: 'team', limit_amount: '20' });
    const user = await subjectRoutes.create({ ...USER, parent: TEAM });
    await subjectRoutes.createLimit(user.id, { ...lifetime, limit_key: 'user', limit_amount: '3' });
    await opened.signIn();
  });
  afterAll(() => opened?.close());

  const dialog = () => page.getByRole('dialog');
  const hold = (number: number) => dialog().getByRole('group', { name: `Hold ${number}` });
  const tree = () => page.getByRole('region', { name: 'Lease tree' });
  const limits = (path: string) =>
    page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/limits${path}`);
  /** The texts of a row of the tree: its numbers have a line for each hold. */
  const figures = async (row: number) => {
    const cells = await tree().getByRole('row').nth(row).getByRole('cell').allInnerTexts();
    return cells.slice(1, 6).map((text) => text.split('\n').filter(Boolean));
  };

  it('opens one with an amount, a quantity and a dimension, and shows them', async () => {
    await limits('/leases');
    await page.getByRole('button', { name: 'Open lease' }).click();
    await dialog().getByLabel('Subject type').fill(TEAM.subject_type);
    await dialog().getByLabel('Subject ID').fill(TEAM.subject_id);
    await hold(1).getByLabel('Amount').fill('5');
    await dialog().getByRole('button', { name: 'Add hold' }).click();
    await hold(2).getByLabel('Quantity').fill('1,000');
    await hold(2).getByLabel('Metric').fill('llm.output_tokens');
    await dialog().getByRole('button', { name: 'Add dimension' }).click();
    await dialog().getByRole('group', { name: 'Dimension 1' }).getByLabel('Name').fill('model');
    await dialog().getByRole('group', { name: 'Dimension 1' }).getByLabel('Value').fill('large');
    await dialog().getByRole('button', { name: 'Open lease' }).click();
    await page.getByRole('heading', { name: 'Budget lease' }).waitFor();
    await page.getByText('model = large').waitFor();
    expect(await page.getByText('1,000 llm.output_tokens').count()).toBe(2);
    await page.getByText('No active parts.').waitFor();
  });

  it('says at its field what the lease has less of than a part asks for', async () => {
    await page.getByRole('button', { name: 'Open part' }).click();
    await dialog().getByText('5 USD, 1,000 llm.output_tokens', { exact: true }).waitFor();
    await dialog().getByText('The part also has model = large.').waitFor();
    await hold(1).getByLabel('Amount').fill('6');
    await dialog().getByRole('button', { name: 'Open part' }).click();
    await hold(1).getByText('5 USD remain of the parent lease').waitFor();
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('says which limit of which subject refuses it', async () => {
    await dialog().getByLabel('Subject type').fill(USER.subject_type);
    await dialog().getByLabel('Subject ID').fill(USER.subject_id);
    await hold(1).getByLabel('Amount').fill('4');
    await dialog().getByRole('button', { name: 'Open part' }).click();
    const refused = dialog().getByRole('alert');
    await refused.getByText('user of user/ann: 0 used and 0 reserved of 3 USD, 4 asked').waitFor();
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  it('takes parts of a lease, and of a part, and shows what remains of each', async () => {
    await hold(1).getByLabel('Amount').fill('2');
    await dialog().getByRole('button', { name: 'Open part' }).click();
    await dialog().waitFor({ state: 'detached' });
    await tree().getByRole('link', { name: 'user/ann' }).waitFor();
    await tree().getByRole('row').nth(2).getByRole('link', { name: /^bl_/ }).click();
    await page.getByRole('link', { name: 'user/ann' }).first().waitFor();
    await page.getByRole('button', { name: 'Open part' }).click();
    await hold(1).getByLabel('Amount').fill('0.5');
    await dialog().getByRole('button', { name: 'Open part' }).click();
    await tree().getByRole('row').nth(3).waitFor();
    expect([await figures(1), await figures(2), await figures(3)]).toEqual([
      [
        ['USD', 'llm.output_tokens'],
        ['5', '1,000'],
        ['0', '0'],
        ['2', '0'],
        ['3', '1,000'],
      ],
      [['USD'], ['2'], ['0'], ['0.5'], ['1.5']],
      [['USD'], ['0.5'], ['0'], ['0'], ['0.5']],
    ]);
    await page.getByText('Together, these leases still reserve 5 USD, 1,000 llm.output_tokens.').waitFor();
  });

  it('proposes the leases of a subject and of those above it as parents', async () => {
    await limits(`?type=${USER.subject_type}&id=${USER.subject_id}`);
    await page.getByRole('list', { name: 'Limits', exact: true }).getByText('2 reserved').waitFor();
    await page.getByRole('button', { name: 'Open lease' }).click();
    const proposed = dialog().locator('datalist#lease-parents option');
    await proposed.filter({ hasText: 'team/research, 3 USD' }).waitFor({ state: 'attached' });
    expect(await proposed.count()).toBe(3);
    await dialog().getByRole('button', { name: 'Remove hold 1' }).click();
    await dialog().getByText('Reserves nothing.').waitFor();
    await dialog().getByRole('button', { name: 'Open lease' }).click();
    await page.getByRole('region', { name: 'Budget leases' }).getByText('Nothing').first().waitFor();
  });

  it('gives back what a part has left when it is closed, and ends the parts with the lease', async () => {
    await limits('/leases');
    const { budgetLeases } = opened.client.project(opened.tenant.projectId);
    const [top] = (await budgetLeases.list({ ...TEAM, status: 'active' })).budget_leases;
    const low = (await budgetLeases.tree(top?.id ?? '')).budget_leases.at(-1);
    await page.getByLabel('Lease ID').fill(low?.id ?? '');
    await page.getByRole('button', { name: 'Show lease', exact: true }).click();
    await page.getByRole('button', { name: 'Close lease' }).click();
    await dialog().getByText('What remains is released immediately: 0.5 USD').waitFor();
    await dialog().getByRole('button', { name: 'Close lease' }).click();
    await dialog().waitFor({ state: 'detached' });
    await tree().getByText('closed', { exact: true }).waitFor();
    expect(await figures(2)).toEqual([['USD'], ['2'], ['0'], ['0'], ['2']]);
    await tree().getByRole('row').nth(1).getByRole('link', { name: /^bl_/ }).click();
    await page.getByRole('link', { name: 'team/research' }).first().waitFor();
    await page.getByRole('button', { name: 'Close lease' }).click();
    await dialog().getByRole('button', { name: 'Close lease' }).click();
    await page.getByText('No active parts.').waitFor();
  });

  it('is linked from the events that name it', async () => {
    const project = opened.client.project(opened.tenant.projectId);
    const [ended] = (await project.budgetLeases.list(TEAM)).budget_leases;
    const { raw_event_id } = await project.ingest(opened.tenant.ruleSetId, {
      source: 'console-test',
      occurred_at: Math.floor(Date.now() / 1_000),
      raw_json: { model: 'gpt-5', customer: 'any', usage: { input_tokens: 1, output_tokens: 1 } },
      ...TEAM,
      'x-usage-control': { budget_lease_id: ended?.id ?? '' },
    });
    await project.usage.event(raw_event_id, { wait_seconds: 10 });
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/usage?event=${raw_event_id}`);
    await dialog().getByText('(closed)').waitFor();
    await dialog()
      .getByRole('link', { name: ended?.id ?? '' })
      .click();
    await page.getByRole('heading', { name: 'Budget lease' }).waitFor();
  });

  it('fits a narrow screen', async () => {
    await page.setViewportSize({ width: 360, height: 780 });
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await limits('/leases');
    await page.getByRole('button', { name: 'Open lease' }).click();
    await dialog().getByRole('button', { name: 'Add dimension' }).click();
    const box = await dialog().getByRole('group', { name: 'Dimension 1' }).boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 361)).toBeLessThanOrEqual(360);
  });

  it('breaks no content policy and logs no error', () => {
    expect(opened.problems).toEqual([]);
  });
});
