import type { AnalysisRow, Board, ChartInput } from '@tollgate/contract';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exactSum } from '../../packages/console/src/exact-sum.js';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { CUSTOMER, hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const HOUR_S = 3_600;
const HOURS = 4;
/** Calls of each model in each of the hours. */
const CALLS: readonly Readonly<Record<string, number>>[] = [
  { 'gpt-5': 2 },
  { 'gpt-5': 9, 'gpt-5-mini': 7, 'gemini-2.5-flash': 6 },
  {},
  { 'gpt-5': 1, 'gpt-5-mini': 8 },
];
/** The hour whose bar is clicked. */
const BUSY = 1;
/** The ratio of the axis maximum to the largest value. */
const HEADROOM = 1.05;

describe.runIf(hasBrowser)('the amounts of charts', () => {
  const endS = Math.floor(Date.now() / 1_000 / HOUR_S) * HOUR_S;
  const startS = endS - HOURS * HOUR_S;
  let opened: OpenConsole;
  let page: Page;
  let board: Board;

  const project = () => opened.client.project(opened.tenant.projectId);
  const card = (title: string): Locator => page.getByRole('region', { name: title, exact: true });
  const rows = () => page.getByRole('region', { name: 'Events' }).locator('tbody tr');
  const filters = () => Object.fromEntries(new URL(page.url()).searchParams);

  beforeAll(async () => {
    opened = await openConsole({ events: 1 });
    ({ page } = opened);
    await sendCalls();
    board = await project().boards.create({ name: 'Costs' });
    await opened.signIn();
  });
  afterAll(() => opened?.close());

  it('lead from a bar to its events, which add up to it', async () => {
    await addChart('Bars', { chart_type: 'bar', group_by: ['model'], filters: { region: { exists: true } } });
    const amounts = await amountsBy('model');
    const busy = (model: string) => Number(amounts.get(model)?.[BUSY] ?? 0);
    // The lowest bar of the stack is that of the greatest sum.
    await clickAt('Bars', {
      bucket: BUSY,
      value: busy('gpt-5') / 2,
      top: sumOf([...amounts.keys()].map(busy)),
    });
    await expectEvents(amounts.get('gpt-5')?.[BUSY]);
    expect(filters()).toMatchObject({
      ...{ currency: 'USD', status: 'processed' },
      ...{ from: String(startS + HOUR_S), to: String(startS + 2 * HOUR_S) },
    });
    expect(JSON.parse(filters().filters ?? '')).toEqual({
      ...{ region: { exists: true }, model: { in: ['gpt-5'] } },
    });
    expect(await rows().count()).toBe(CALLS[BUSY]?.['gpt-5']);
    await page.goBack();
    await card('Bars').getByRole('img').waitFor();
  });

  it('lead from a point of a line to the events of its metric, and to that part of them', async () => {
    await addChart('Lines', { chart_type: 'line', split_by: ['metric'] });
    const amounts = await amountsBy('metric');
    const busy = (metric: string) => Number(amounts.get(metric)?.[BUSY] ?? 0);
    const top = Math.max(...[...amounts.values()].flat().map(Number));
    await clickAt('Lines', { bucket: BUSY, value: busy('llm.output_tokens'), top });
    await expectEvents(amounts.get('llm.output_tokens')?.[BUSY]);
    expect(filters()).toMatchObject({ metric: 'llm.output_tokens', currency: 'USD' });
    await page.getByText(/charge items? that match the filters/).waitFor();
  });

  it('lead there from the cells of a table and from the legend, by keyboard too', async () => {
    await addChart('Table', { chart_type: 'area', group_by: ['model'], limit: 1 });
    const amounts = await amountsBy('model');
    const others = exactSum(
      ['gpt-5-mini', 'gemini-2.5-flash'].map((model) => amounts.get(model)?.[BUSY] ?? '0'),
    );
    await openBoard();
    const legend = card('Table').getByRole('list', { name: 'Legend' });
    await legend.getByRole('link').first().click();
    await expectEvents(exactSum(amounts.get('gpt-5') ?? []));
    await page.goBack();
    await card('Table').getByRole('button', { name: 'Actions for Table' }).click();
    await page.getByRole('menuitem', { name: 'View as table' }).click();
    const hour = card('Table').getByRole('row', { name: new RegExp(`^${clock(startS + HOUR_S)}`) });
    await hour.getByRole('link').last().focus();
    await page.keyboard.press('Enter');
    await expectEvents(others);
    expect(JSON.parse(filters().filters ?? '')).toEqual({ model: { not_in: ['gpt-5'] } });
  });

  it('lead nowhere where no filters select just their events', async () => {
    await addChart('Pairs', { chart_type: 'bar', group_by: ['model', 'region'], limit: 1 });
    await openBoard();
    const legend = card('Pairs').getByRole('list', { name: 'Legend' });
    await legend.getByText('All others').waitFor();
    expect(await legend.getByRole('link').count()).toBe(1);
  });

  it('break no content policy and log no error', () => {
    expect(opened.problems).toEqual([]);
  });

  async function addChart(title: string, fields: Partial<ChartInput>): Promise<void> {
    const { charts } = (await project().boards.list()).boards.find(
      (each) => each.board.report_id === board.report_id,
    ) ?? { charts: [] };
    for (const { chart_id: id } of charts) await project().boards.deleteChart(id);
    await project().boards.createChart({
      board_id: board.report_id,
      title,
      chart_type: 'bar',
      measures: ['amount'],
      split_by: [],
      bucket_size: '1h',
      ...fields,
    });
  }

  async function openBoard(): Promise<void> {
    const path = `p/${opened.tenant.projectId}/boards/${board.report_id}?from=${startS}&to=${endS}`;
    await page.goto(`${opened.service.url}/${path}`);
  }

  /** Clicks where a value is in a bucket; `top` is the largest value that is drawn. */
  async function clickAt(title: string, at: { bucket: number; value: number; top: number }): Promise<void> {
    await openBoard();
    const plot = card(title).locator('.u-over');
    await plot.waitFor();
    const box = await plot.boundingBox();
    if (box === null) throw new Error('the plot is not shown');
    // Bars stand about their time, and lines go from the first to the last.
    const place = title === 'Bars' ? (at.bucket + 0.5) / HOURS : at.bucket / (HOURS - 1);
    const y = box.y + box.height * (1 - at.value / (at.top * HEADROOM));
    await page.mouse.move(box.x + box.width * place, y);
    await card(title).getByText('click to view events of').waitFor();
    await page.mouse.click(box.x + box.width * place, y);
  }

  /** The list shows events whose amounts come to the sum, and says so itself. */
  async function expectEvents(sum: string | undefined): Promise<void> {
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    await rows().first().waitFor();
    const amounts = await rows()
      .locator('td:nth-child(6) span[title]')
      .evaluateAll((cells) => cells.map((cell) => cell.title));
    expect(exactSum(amounts)).toBe(sum);
    const total = page.getByRole('region', { name: 'Total', exact: true }).locator('span[title]');
    expect(await total.getAttribute('title')).toBe(sum);
  }

  /** Exact amounts by hour, as the service sums them. */
  async function amountsBy(what: 'model' | 'metric'): Promise<Map<string, string[]>> {
    const { rows: found } = await project().analysis.query({
      ...{ measures: ['amount'], time_range: { from: startS, to: endS }, bucket_size: '1h' },
      ...(what === 'model' ? { split_by: [], group_by: ['model'] } : {}),
    });
    const nameOf = ({ metric, group }: AnalysisRow) => (what === 'model' ? group.model : metric) ?? '';
    const names = new Set(found.map(nameOf));
    const at = (name: string, hour: number) =>
      found.find((row) => nameOf(row) === name && row.bucket === startS + hour * HOUR_S)?.amount ?? '0';
    return new Map([...names].map((name) => [name, CALLS.map((_, hour) => at(name, hour))]));
  }

  async function sendCalls(): Promise<void> {
    const { ruleSetId } = opened.tenant;
    const events = CALLS.flatMap((calls, hour) =>
      Object.entries(calls).flatMap(([model, count]) =>
        Array.from({ length: count }, (_, index) => ({
          extractor_rule_set_id: ruleSetId,
          idempotency_key: `${hour}-${model}-${index}`,
          occurred_at: startS + hour * HOUR_S + index * 60,
          raw_json: {
            ...{ customer: CUSTOMER, model, region: index % 2 === 0 ? 'eu' : 'us' },
            usage: { input_tokens: 1_000 + index, output_tokens: 100 + hour },
          },
        })),
      ),
    );
    await project().batchIngest({ source: 'hours', events });
    await waitFor(
      async () =>
        (await project().usage.events({ source: 'hours', limit: 100 })).events.length === events.length,
      { timeoutMs: 120_000, what: 'the calls' },
    );
  }
});

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** A moment as tables of charts write it. */
function clock(unixS: number): string {
  const [date, time] = new Date(unixS * 1_000)
    .toLocaleString('en-GB', {
      ...{
        timeZone: 'UTC',
        day: 'numeric',
        month: 'short',
        year: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
      },
    })
    .split(', ');
  return `${date}, ${time}`;
}
