import { readFileSync } from 'node:fs';
import type { ChartInput } from '@tollgate/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { CUSTOMER, hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const OTHER = 'totals_other';
const HOUR_S = 3_600;
/** A machine that does much else is slow; one that hangs is noticed nevertheless. */
const WAIT_MS_MAX = 60_000;

describe.runIf(hasBrowser)('charts of totals, and filters of a board', () => {
  let opened: OpenConsole;
  let page: Page;
  let boardId: string;
  let sent = 0;

  beforeAll(async () => {
    opened = await openConsole({ events: 0 });
    ({ page } = opened);
    page.setDefaultTimeout(WAIT_MS_MAX);
    await sendFirstCalls();
    await opened.signIn();
    const { boards } = opened.client.project(opened.tenant.projectId);
    ({ report_id: boardId } = await boards.create({ name: 'Totals' }));
    const shown = { board_id: boardId, metrics: ['llm.output_tokens'], measures: ['quantity', 'item_count'] };
    const charts: ChartInput[] = [
      { ...shown, title: 'All tokens', chart_type: 'big_number', comparison: 'previous_period' },
      { ...shown, title: 'By model', chart_type: 'top_n', group_by: ['model'], limit: 1 },
      {
        ...shown,
        title: 'By customer',
        chart_type: 'top_n',
        group_by: ['subject_id'],
        limit: 1,
        measures: ['item_count', 'quantity'],
      },
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
  const sendFirstCalls = () =>
    sendCalls([
      { key: 'a', agoS: 60, model: 'gpt-5', tokens: 20 },
      { key: 'b', agoS: 60, model: 'gpt-5', tokens: 10, customer: OTHER },
      { key: 'c', agoS: 60, model: 'gpt-5-mini', tokens: 12 },
      { key: 'd', agoS: HOUR_S + 600, model: 'gpt-5', tokens: 20 },
    ]);

  interface Call {
    readonly key: string;
    readonly agoS: number;
    readonly model: string;
    readonly tokens: number;
    readonly customer?: string;
  }

  async function sendCalls(calls: readonly Call[]): Promise<void> {
    const nowS = Math.floor(Date.now() / 1_000);
    const events = calls.map(({ key, agoS, model, tokens, customer = CUSTOMER }) => ({
      extractor_rule_set_id: opened.tenant.ruleSetId,
      idempotency_key: key,
      occurred_at: nowS - agoS,
      raw_json: { customer, model, usage: { input_tokens: 1, output_tokens: tokens } },
    }));
    const project = opened.client.project(opened.tenant.projectId);
    await project.batchIngest({ source: 'totals', events });
    sent += events.length;
    await waitFor(async () => (await project.usage.events({ limit: 10 })).events.length === sent, {
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
    await page.getByText(`subject ID: ${OTHER}`).waitFor();
    const saved = page.waitForEvent('download');
    await card('Rows').getByRole('button', { name: 'Actions for Rows' }).click();
    await page.getByRole('menuitem', { name: 'Download CSV' }).click();
    expect(readFileSync(await (await saved).path(), 'utf8').split('\r\n')).toEqual([
      'bucket,metric,unit,currency,group.model,quantity,item_count',
      ',llm.output_tokens,token,USD,gpt-5,10,1',
      '',
    ]);
  });

  it('groups are those with the most of the first measure, which is drawn', async () => {
    await goToBoard();
    const groups = card('By customer').getByRole('listitem');
    await groups.nth(1).waitFor();
    expect(await groups.allInnerTexts()).toEqual([
      expect.stringMatching(new RegExp(`^${CUSTOMER}\\s+2`)),
      expect.stringMatching(/^All others\s+1/),
    ]);
  });

  it('the editor counts different values, and keeps the measures in their order', async () => {
    await card('By customer').getByRole('button', { name: 'Actions for By customer' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    const chip = (label: string, name: string) =>
      dialog.getByRole('group', { name: label, exact: true }).getByRole('button', { name, exact: true });
    await dialog.getByText('The largest by the first measure, Items.').waitFor();
    // The chart is grouped by `subject_id`, which is listed in its other form.
    expect(await dialog.getByRole('button', { name: 'subject ID', exact: true }).count()).toBe(1);
    await chip('Group by', 'subject ID').click();
    await chip('Group by', 'source of price').click();
    await chip('Measures', 'Items').click();
    await chip('Count different values', 'Unique subject ID').click();
    await chip('Measures', 'Amount').click();
    const saving = page.waitForRequest(
      (request) => request.method() === 'PUT' && request.url().includes('/charts/'),
    );
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    expect((await saving).postDataJSON()).toMatchObject({
      measures: ['quantity', 'unique:@subject_id', 'amount'],
      group_by: ['@pricing_source'],
    });
    await dialog.waitFor({ state: 'detached' });
    await card('By customer').getByRole('button', { name: 'Unique subject ID', exact: true }).click();
    await card('By customer').getByRole('listitem').getByText('2', { exact: true }).first().waitFor();
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
  });

  it('usage that a filtered board selects appears as it comes in', async () => {
    await goToBoard(
      `&filters=${encodeURIComponent(JSON.stringify({ model: { in: ['gemini-2.5-flash'] } }))}`,
    );
    await page.getByText('Live', { exact: true }).waitFor();
    await card('All tokens').getByText('No usage of llm.output_tokens in this range.').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await sendCalls([{ key: 'live', agoS: 1, model: 'gemini-2.5-flash', tokens: 7 }]);
    await card('All tokens').getByText('7', { exact: true }).waitFor();
    expect(asked.filter((url) => url.endsWith('/analysis/query'))).toEqual([]);
  });

  it('break no content policy and log no error', () => {
    expect(opened.problems).toEqual([]);
  });
});
