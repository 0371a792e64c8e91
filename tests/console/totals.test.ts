import type { ChartInput } from '@tollgate/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { CUSTOMER, hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const OTHER = 'totals_other';
const HOUR_S = 3_600;

describe.runIf(hasBrowser)('charts of totals, and filters of a board', () => {
  let opened: OpenConsole;
  let page: Page;
  let boardId: string;

  beforeAll(async () => {
    opened = await openConsole({ events: 0 });
    ({ page } = opened);
    await sendCalls();
    await opened.signIn();
    const { boards } = opened.client.project(opened.tenant.projectId);
    ({ report_id: boardId } = await boards.create({ name: 'Totals' }));
    const shown = { board_id: boardId, metrics: ['llm.output_tokens'], measures: ['quantity', 'item_count'] };
    const charts: ChartInput[] = [
      { ...shown, title: 'All tokens', chart_type: 'big_number', comparison: 'previous_period' },
      { ...shown, title: 'By model', chart_type: 'top_n', group_by: ['model'], limit: 1 },
      { ...shown, title: 'Rows', chart_type: 'table', group_by: ['model'], comparison: 'previous_period' },
      { ...shown, title: 'Only gpt-5', chart_type: 'line', filters: { model: { in: ['gpt-5'] } } },
    ] as ChartInput[];
    for (const chart of charts) await boards.createChart(chart);
  });
  afterAll(() => opened?.close());

  const card = (title: string) => page.getByRole('region', { name: title, exact: true });
  const goToBoard = (query = '') =>
    page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/boards/${boardId}?last=${HOUR_S}${query}`);

  /** Output tokens: 30 of gpt-5 and 12 of gpt-5-mini in the last hour, 20 of gpt-5 in the hour before. */
  async function sendCalls(): Promise<void> {
    const project = opened.client.project(opened.tenant.projectId);
    const nowS = Math.floor(Date.now() / 1_000);
    const call = (key: string, agoS: number, model: string, tokens: number, customer = CUSTOMER) => ({
      extractor_rule_set_id: opened.tenant.ruleSetId,
      idempotency_key: key,
      occurred_at: nowS - agoS,
      raw_json: { customer, model, usage: { input_tokens: 1, output_tokens: tokens } },
    });
    const events = [
      call('a', 60, 'gpt-5', 20),
      call('b', 60, 'gpt-5', 10, OTHER),
      call('c', 60, 'gpt-5-mini', 12),
      call('d', HOUR_S + 600, 'gpt-5', 20),
    ];
    await project.batchIngest({ source: 'totals', events });
    await waitFor(async () => (await project.usage.events({ limit: 10 })).events.length === events.length, {
      timeoutMs: 60_000,
    });
  }

  it('a big number shows the total, and how it has changed', async () => {
    await goToBoard();
    await card('All tokens').getByText('42', { exact: true }).waitFor();
    // 42 tokens, of which 20 were used in the hour before.
    await card('All tokens').getByText('110.0 %', { exact: true }).waitFor();
    await card('All tokens').getByRole('button', { name: 'Items', exact: true }).click();
    await card('All tokens').getByText('200.0 %', { exact: true }).waitFor();
    await card('All tokens').getByRole('button', { name: 'Quantity', exact: true }).click();
  });

  it('top groups and all others are listed, largest first', async () => {
    const groups = card('By model').getByRole('listitem');
    await groups.nth(1).waitFor();
    expect(await groups.allInnerTexts()).toEqual([
      expect.stringMatching(/^gpt-5\s+30/),
      expect.stringMatching(/^All others\s+12/),
    ]);
  });

  it('a table has a row for each group, with all measures', async () => {
    const cells = async (row: number) =>
      (await card('Rows').getByRole('row').nth(row).getByRole('cell').allInnerTexts()).map((text) =>
        text.replaceAll(/\s+/g, ' ').trim(),
      );
    // The rows come before the period they are compared with: the last thing drawn is the change.
    await card('Rows').getByText('50.0 %').first().waitFor();
    await card('Rows').getByRole('row').nth(2).getByText('new').first().waitFor();
    expect((await cells(1)).slice(1, 4)).toEqual(['gpt-5', '30 token', '2']);
    expect((await cells(1))[4]).toContain('50.0 %');
    expect((await cells(2)).slice(1, 4)).toEqual(['gpt-5-mini', '12 token', '1']);
    expect((await cells(2))[4]).toContain('new');
  });

  it('a filter of the board holds for all charts, and is part of the address', async () => {
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByLabel('Dimension').selectOption('model');
    await page.getByLabel('Add value for model').fill('gpt-5-mini');
    await page.getByLabel('Add value for model').press('Enter');
    await card('All tokens').getByText('12', { exact: true }).waitFor();
    await card('Only gpt-5').getByText('cannot be combined with the filter of the board').waitFor();
    expect(new URL(page.url()).searchParams.get('filters')).toBe('{"model":{"in":["gpt-5-mini"]}}');
    await page.getByText('Live', { exact: true }).first().waitFor();

    const shared = await opened.openAnother();
    await shared.goto(page.url());
    await shared
      .getByRole('region', { name: 'All tokens', exact: true })
      .getByText('12', { exact: true })
      .waitFor();
    await page.getByRole('button', { name: 'Remove the filter on model' }).click();
    await card('All tokens').getByText('42', { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('filters')).toBeNull();
  });

  it('a filter on a customer holds beside the range', async () => {
    await goToBoard(`&filters=${encodeURIComponent(JSON.stringify({ subject_id: { in: [OTHER] } }))}`);
    await card('All tokens').getByText('10', { exact: true }).waitFor();
    await page.getByText(`subject_id: ${OTHER}`).waitFor();
  });

  it('the editor keeps what other types need', async () => {
    await goToBoard();
    await page.getByRole('button', { name: 'Actions for By model' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type').selectOption('big_number');
    expect(await dialog.getByLabel('Groups').count()).toBe(0);
    await dialog.getByLabel('Comparison').selectOption('previous_period');
    await dialog.getByLabel('Preview').getByText('42', { exact: true }).waitFor();
    await dialog.getByLabel('Type').selectOption('table');
    await dialog.getByLabel('Groups').selectOption('all');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await card('By model').getByRole('row').nth(2).waitFor();
    expect(opened.problems).toEqual([]);
  });
});
