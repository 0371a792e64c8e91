import type { Board, Chart, ChartInput } from '@tollgate/contract';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

describe.runIf(hasBrowser)('charts', () => {
  let opened: OpenConsole;
  let page: Page;
  let board: Board;

  const chart = (title: string): Locator => page.getByRole('region', { name: title, exact: true });
  const boards = () => opened.client.project(opened.tenant.projectId).boards;
  const openBoard = async (query = '') => {
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/boards/${board.report_id}${query}`);
  };
  const addChart = (fields: Partial<ChartInput>): Promise<Chart> =>
    boards().createChart({
      board_id: board.report_id,
      title: 'Cost',
      chart_type: 'bar',
      measures: ['amount'],
      split_by: [],
      ...fields,
    });

  beforeAll(async () => {
    opened = await openConsole();
    ({ page } = opened);
    board = await boards().create({ name: 'Costs', timezone: 'Asia/Kathmandu' });
    await opened.signIn();
  });
  afterAll(() => opened?.close());

  it('begin with what everything costs', async () => {
    await openBoard();
    await page.getByRole('button', { name: 'Add chart' }).first().click();
    const editor = page.getByRole('dialog', { name: 'New chart' });
    const legend = editor.getByRole('list', { name: 'Legend' });
    await legend.getByRole('button', { name: 'Total' }).waitFor();
    expect(await editor.getByLabel('Metrics', { exact: true }).inputValue()).toBe('all-added');
    await editor.getByRole('button', { name: 'model', exact: true }).click();
    await legend.getByRole('button', { name: 'gpt-5', exact: true }).waitFor();
    await editor.getByLabel('Title').fill('Cost of each model');
    const posted = page.waitForRequest((request) => request.url().endsWith('/charts'));
    await editor.getByRole('button', { name: 'Add chart' }).click();
    const body = (await posted).postDataJSON();
    expect(body).toMatchObject({ split_by: [], measures: ['amount'], group_by: ['model'], limit: 10 });
    expect(body).not.toHaveProperty('metrics');
    await chart('Cost of each model').getByRole('button', { name: 'gpt-5', exact: true }).waitFor();
  });

  it('keep metrics apart where that is chosen', async () => {
    await openBoard();
    await page.getByRole('button', { name: 'Add chart' }).first().click();
    const editor = page.getByRole('dialog', { name: 'New chart' });
    const legend = editor.getByRole('list', { name: 'Legend' });
    await editor.getByLabel('Metrics', { exact: true }).selectOption('All metrics, separately');
    await legend.getByRole('button', { name: 'llm.input_tokens', exact: true }).waitFor();
    await editor.getByLabel('Metrics', { exact: true }).selectOption('Chosen metrics, separately');
    await editor.getByRole('button', { name: 'llm.output_tokens', exact: true }).first().click();
    await legend
      .getByRole('button', { name: 'llm.input_tokens', exact: true })
      .waitFor({ state: 'detached' });
    await editor.getByRole('button', { name: 'model', exact: true }).click();
    // There is one metric: the names of the groups say all.
    await legend.getByRole('button', { name: 'gpt-5', exact: true }).waitFor();
    await editor.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await editor.waitFor({ state: 'detached' });
  });

  it('show a calendar month by the clock of the board', async () => {
    await addChart({ title: 'By month', bucket_size: '1mo' });
    await openBoard();
    await chart('By month').getByText('1 month intervals, Asia/Kathmandu').waitFor();
    await page.getByRole('button', { name: 'Last 24 hours' }).click();
    const asked = page.waitForRequest((request) => request.url().endsWith('/analysis/query'));
    await page.getByRole('button', { name: 'Last month' }).click();
    const { from, to } = (await asked).postDataJSON().time_range;
    const local = (unixS: number) =>
      new Date(unixS * 1_000).toLocaleString('en-GB', { timeZone: 'Asia/Kathmandu' });
    expect([local(from), local(to)]).toEqual([
      expect.stringMatching(/^01\/.*, 00:00:00$/),
      expect.stringMatching(/^01\/.*, 00:00:00$/),
    ]);
    expect(to - from).toBeGreaterThanOrEqual(28 * 86_400);
    await page.reload();
    await page.getByRole('button', { name: 'Last month' }).click();
    await page.getByRole('button', { name: 'This month' }).click();
    await waitFor(async () => page.url().endsWith('?month=this'), { what: 'the address' });
    // A month alone has a bar, in the middle.
    await waitFor(() => page.evaluate<boolean>(IS_FILLED_IN_THE_MIDDLE), { what: 'the bar' });
    await page.getByRole('status').filter({ hasText: /^Live/ }).waitFor();
  });

  it('name what no usage has had', async () => {
    await addChart({ title: 'Typing error', metrics: ['llm.typo'] });
    await openBoard();
    const warnings = chart('Typing error').getByRole('region', { name: 'Warnings' });
    await warnings.getByText('llm.typo').waitFor();
    await chart('By month').getByRole('img').waitFor();
    expect(await page.getByRole('region', { name: 'Warnings' }).count()).toBe(1);
  });

  it('break no content policy and log no error', () => {
    expect(opened.problems).toEqual([]);
  });
});

/** Runs in the page: whether something is drawn in the middle of the chart by month, just above zero. */
const IS_FILLED_IN_THE_MIDDLE = `(() => {
  const plot = document.querySelector('[aria-label="By month"] [role=img]');
  if (plot === null) return false;
  const canvas = plot.querySelector('canvas');
  const over = plot.querySelector('.u-over');
  if (canvas === null || over === null) return false;
  const [whole, inner] = [canvas.getBoundingClientRect(), over.getBoundingClientRect()];
  const scale = canvas.width / whole.width;
  const x = (inner.left + inner.width / 2 - whole.left) * scale;
  const y = (inner.bottom - 5 - whole.top) * scale;
  return canvas.getContext('2d').getImageData(x, y, 1, 1).data[3] > 0;
})()`;
