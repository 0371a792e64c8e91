// The pages of the console that screenshots.mjs takes.

/** A customer of the sample usage. */
export const CUSTOMER = 'cust_001';

/** Every page, by name: where it is in the project, and what to do there first. */
export function pagesOf(prepared) {
  const { tenant, account, endpoint, plan, empty, lease, correction, voided } = prepared;
  return [
    { name: 'start', path: 'start', project: empty.id },
    { name: 'boards', path: 'boards' },
    ...boardPages(prepared),
    { name: 'usage', path: 'usage' },
    {
      name: 'usage-amount',
      path: 'usage?last=604800&status=processed&metric=llm.output_tokens&currency=USD',
    },
    {
      name: 'usage-event',
      path: `usage?status=processed&subject_id=${CUSTOMER}`,
      act: (page) => firstRow(page),
    },
    {
      name: 'usage-selected',
      path: `usage?subject_id=${CUSTOMER}`,
      // A voided event cannot be selected.
      act: (page) => page.locator('tbody').getByRole('checkbox', { disabled: false }).first().check(),
    },
    { name: 'usage-correct', path: `usage?last=86400&subject_id=${CUSTOMER}&correct=matching` },
    { name: 'usage-corrections', path: 'usage/corrections' },
    { name: 'usage-correction', path: `usage/corrections/${correction}` },
    { name: 'usage-history', path: `usage?status=voided&event=${voided}` },
    ...rulesPages(prepared),
    { name: 'limits', path: 'limits' },
    { name: 'limits-subject', path: `limits?type=customer&id=${CUSTOMER}` },
    { name: 'limits-plans', path: 'limits/plans' },
    { name: 'limits-plan', path: `limits/plans/${plan.plan_id}` },
    {
      name: 'limits-plan-backtest',
      path: `limits/plans/${plan.plan_id}`,
      act: async (page) => {
        const backtest = page.getByRole('region', { name: 'Backtest', exact: true });
        await backtest.getByRole('button', { name: 'Backtest' }).click();
        await backtest.getByRole('row').filter({ hasText: 'succeeded' }).first().scrollIntoViewIfNeeded();
      },
    },
    { name: 'limits-plan-edit', path: `limits/plans/${plan.plan_id}/edit` },
    { name: 'limits-routes', path: 'limits/routes' },
    { name: 'limits-lease', path: `limits/leases/${lease}` },
    {
      name: 'limits-lease-part',
      path: `limits/leases/${lease}`,
      act: async (page) => {
        await page.getByRole('button', { name: 'Open part' }).click();
        await page.getByRole('button', { name: 'Add hold' }).click();
        await page.getByRole('button', { name: 'Add dimension' }).click();
      },
    },
    { name: 'billing', path: 'billing' },
    { name: 'billing-account', path: `billing/${account.id}` },
    {
      name: 'billing-account-edit',
      path: `billing/${account.id}`,
      act: (page) => page.getByRole('button', { name: 'Edit account' }).click(),
    },
    { name: 'webhooks', path: 'webhooks' },
    { name: 'webhooks-endpoint', path: `webhooks/${endpoint.id}` },
    { name: 'settings-projects', path: 'settings' },
    { name: 'settings-plan', path: 'settings/plan' },
    { name: 'settings-keys', path: 'settings/keys' },
    { name: 'settings-audit', path: 'settings/audit' },
  ].map((page) => ({ project: tenant.projectId, ...page }));
}

function boardPages({ board, margins }) {
  return [
    { name: 'board', path: `boards/${board.report_id}?last=604800` },
    { name: 'margin-board', path: `boards/${margins.report_id}?last=604800` },
    {
      name: 'margin-board-filtered',
      path: `boards/${margins.report_id}?${new URLSearchParams({
        last: '86400',
        filters: JSON.stringify({ subject_id: { in: [CUSTOMER] } }),
      })}`,
      act: (page) => page.getByRole('button', { name: 'Filter', exact: true }).click(),
    },
    {
      name: 'margin-chart-editor',
      path: `boards/${margins.report_id}`,
      act: async (page) => {
        await page.getByRole('button', { name: 'Actions for Top customers' }).click();
        await page.getByRole('menuitem', { name: 'Edit' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
    {
      name: 'board-hover',
      path: `boards/${board.report_id}?last=604800`,
      act: async (page) => {
        const { x, y, width, height } = await page.locator('.u-over').first().boundingBox();
        await page.mouse.move(x + width * 0.7, y + height * 0.9);
      },
    },
    {
      name: 'board-table',
      path: `boards/${board.report_id}?last=604800`,
      act: async (page) => {
        await page.getByRole('button', { name: 'Actions for Amount by model' }).click();
        await page.getByRole('menuitem', { name: 'View as table' }).click();
      },
    },
    {
      name: 'chart-editor',
      path: `boards/${board.report_id}`,
      act: async (page) => {
        await page.getByRole('button', { name: 'Add chart' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
  ];
}

function rulesPages({ tenant, price, cost }) {
  const rules = `rules/extractor/${tenant.ruleSetId}`;
  return [
    { name: 'rules', path: 'rules' },
    {
      name: 'rules-new-pricing',
      path: 'rules',
      act: async (page) => {
        await page.getByRole('button', { name: 'New pricing rule set' }).click();
        await page.getByRole('dialog').waitFor();
      },
    },
    { name: 'rules-new', path: 'rules/new' },
    { name: 'rules-edit', path: rules },
    { name: 'rules-test', path: `${rules}/test` },
    { name: 'rules-versions', path: `${rules}/versions` },
    { name: 'rules-prices', path: `rules/pricing/${price.id}` },
    { name: 'rules-costs', path: `rules/pricing/${cost.id}` },
    { name: 'rules-costs-test', path: `rules/pricing/${cost.id}/test` },
  ];
}

async function firstRow(page) {
  await page.locator('tbody').getByRole('button').first().click();
  await page.getByRole('dialog').waitFor();
}
