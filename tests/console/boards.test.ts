import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Board, BoardList, Chart } from '@tollgate/contract';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { CUSTOMER, hasBrowser, type OpenConsole, openConsole, SOURCE } from '../support/console.js';
import { openPhone } from '../support/phone.js';

const EVENTS = 30;
/** Upper bound of the compressed scripts that the page loads before anything is edited. */
const SCRIPT_BYTES_MAX = 250_000;
/** How far what is seen may move by itself, as browsers measure it. */
const LAYOUT_SHIFT_MAX = 0.05;
const STREAM = /\/analysis\/stream\?/;
/** A machine that does much else is slow; one that hangs is noticed nevertheless. */
const WAIT_MS_MAX = 60_000;
const PNG_SIGNATURE = '89504e470d0a1a0a';

/** Adds up, in the page, how far things moved that nobody has moved. */
const WATCH_SHIFTS = `
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

describe.runIf(hasBrowser)('boards', () => {
  let opened: OpenConsole;
  let page: Page;
  let board: Board;

  const chart = (title: string): Locator => page.getByRole('region', { name: title, exact: true });
  const choose = async (title: string, item: string) => {
    await chart(title)
      .getByRole('button', { name: `Actions for ${title}` })
      .click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  const analysis = async <T>(path: string, body?: object, accept = 'application/json'): Promise<T> => {
    const { service, tenant } = opened;
    const response = await fetch(`${service.url}/v1/projects/${tenant.projectId}/analysis${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${tenant.key}`, accept, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBeLessThan(300);
    return (accept === 'text/csv' ? response.text() : response.json()) as Promise<T>;
  };
  const boardPath = () => `${opened.service.url}/p/${opened.tenant.projectId}/boards/${board.report_id}`;
  const liveness = (text: RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
  const totalOf = async (title: string) =>
    (await chart(title).getByText('Total', { exact: true }).locator('xpath=..').textContent())?.replace(
      /^Total|\s*items$/g,
      '',
    );

  beforeAll(async () => {
    opened = await openConsole({ events: EVENTS });
    ({ page } = opened);
    page.setDefaultTimeout(WAIT_MS_MAX);
    const { boards } = await analysis<BoardList>('/boards');
    const [first] = boards;
    if (first === undefined) throw new Error('the demo has no board');
    ({ board } = first);
    await page.addInitScript({ content: WATCH_SHIFTS });
  });
  afterAll(() => opened?.close());

  it('come with few scripts', async () => {
    const scripts: Promise<Buffer>[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('.js')) scripts.push(response.body());
    });
    await opened.signIn();
    await page.getByRole('link', { name: /LLM usage/ }).click();
    await chart('Amount by model').locator('canvas').waitFor();
    // The page was loaded twice: once to sign in, and once signed in.
    const distinct = new Map((await Promise.all(scripts)).map((bytes) => [bytes.toString('base64'), bytes]));
    const bytes = [...distinct.values()].reduce((sum, script) => sum + gzipSync(script).length, 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(SCRIPT_BYTES_MAX);
  });

  it('do not move what is seen while they are read and drawn', async () => {
    await page.goto(boardPath());
    await chart('Requests by model').locator('canvas').waitFor();
    await liveness(/^Live/);
    expect(await page.evaluate<number>('window.layoutShift')).toBeLessThan(LAYOUT_SHIFT_MAX);
  });

  it('show usage as it comes in', async () => {
    await page.goto(boardPath());
    await liveness(/^Live/);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await waitFor(async () => (await totalOf('Requests by model')) === String(EVENTS), {
      what: 'the events',
    });
    asked.length = 0;
    await send(5);
    await waitFor(async () => (await totalOf('Requests by model')) === String(EVENTS + 5), {
      what: 'the new events',
      timeoutMs: 120_000,
    });
    expect(asked.filter((url) => url.endsWith('/analysis/query'))).toEqual([]);
  });

  it('show what a stream would, when there is none', async () => {
    await page.route(STREAM, (route) =>
      route.fulfill({ status: 429, json: { error: 'Too many streams.', code: 'too_many_streams' } }),
    );
    await page.goto(boardPath());
    await liveness(/^Every 5 s/);
    await send(1);
    await waitFor(async () => (await totalOf('Requests by model')) === String(EVENTS + 6), {
      what: 'the new event',
      timeoutMs: 120_000,
    });
    await page.unroute(STREAM);
    // The browser logs the refusal itself.
    expect(opened.problems.splice(0)).toEqual([expect.stringContaining('429')]);
  });

  it('share a crosshair, and show the exact numbers of its bucket', async () => {
    await page.goto(boardPath());
    const plot = chart('Requests by model').getByRole('img');
    await chart('Tokens by kind').locator('canvas').waitFor();
    expect(await plot.getAttribute('aria-label')).toMatch(/^Stacked bars from .*: gpt-5/);
    const note = chart('Requests by model').getByText('1 h intervals, UTC');
    await note.waitFor();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    if (box === null) throw new Error('the plot is not shown');
    // The last bucket holds all of the events; it is in progress.
    await page.mouse.move(box.x + box.width - 25, box.y + 60);
    await chart('Requests by model').getByText('in progress').waitFor();
    await chart('Tokens by kind').getByText('in progress').waitFor();
    await page.mouse.move(0, 0);
    await note.waitFor();
  });

  it('show the crosshair under a finger, which scrolls the page all the same', async () => {
    const phone = await openPhone(page);
    try {
      await phone.page.goto(`${opened.service.url}/sign-in#key=${opened.tenant.key}`);
      await phone.page.getByRole('heading', { name: 'Boards' }).waitFor();
      await phone.page.goto(boardPath());
      const card = phone.page.getByRole('region', { name: 'Amount by model', exact: true });
      await card.locator('canvas').waitFor();
      const box = await card.getByRole('img').boundingBox();
      if (box === null) throw new Error('the plot is not shown');
      const end = { x: box.x + box.width - 25, y: box.y + 60 };
      await phone.drag({ x: end.x - 120, y: end.y }, end);
      await card.getByText('in progress').waitFor();
      await phone.lift();
      await card.getByText('in progress').waitFor({ state: 'detached' });
      const before = (await card.boundingBox())?.y ?? 0;
      await phone.drag({ x: end.x, y: end.y + 80 }, end);
      await phone.lift();
      await waitFor(async () => ((await card.boundingBox())?.y ?? 0) < before, {
        what: 'the page to scroll',
      });
    } finally {
      await phone.close();
    }
  });

  it('hide and isolate what the legend names', async () => {
    const requests = chart('Requests by model');
    const whole = await totalOf('Requests by model');
    await requests.getByRole('button', { name: 'gpt-5', exact: true }).click();
    await waitFor(async () => Number(await totalOf('Requests by model')) < Number(whole), { what: 'less' });
    await requests.getByRole('button', { name: 'gpt-5', exact: true }).click();
    await waitFor(async () => (await totalOf('Requests by model')) === whole, { what: 'all' });
    await requests.getByRole('button', { name: 'gpt-5-mini', exact: true }).hover();
    await requests.getByRole('button', { name: 'Show only gpt-5-mini' }).click();
    await requests.getByRole('button', { name: 'Show all' }).click();
    await waitFor(async () => (await totalOf('Requests by model')) === whole, { what: 'all again' });
  });

  it('are read as a table, and as the file that the API writes', async () => {
    await page.goto(`${boardPath()}?from=${recently() - 86_400}&to=${recently()}`);
    await choose('Requests by model', 'View as table');
    const table = chart('Requests by model');
    await table.getByRole('rowheader', { name: 'Total' }).waitFor();
    const saved = page.waitForEvent('download');
    await choose('Requests by model', 'Download CSV');
    const download = await saved;
    expect(download.suggestedFilename()).toBe('requests-by-model.csv');
    const { boards } = await analysis<BoardList>('/boards');
    const shown = boards[0]?.charts.find(({ title }) => title === 'Requests by model') as Chart;
    const range = new URL(page.url()).searchParams;
    const time_range = { from: Number(range.get('from')), to: Number(range.get('to')) };
    const query = { ...shown.query, timezone: board.timezone, time_range };
    const expected = await analysis<string>('/query', query, 'text/csv');
    expect(expected.split('\n').length).toBeGreaterThan(2);
    expect(readFileSync(await download.path(), 'utf8')).toBe(expected);
  });

  it('are saved as a picture', async () => {
    await page.goto(boardPath());
    await chart('Amount by model').locator('canvas').waitFor();
    const saved = page.waitForEvent('download');
    await choose('Amount by model', 'Download PNG');
    const bytes = readFileSync(await (await saved).path());
    expect(bytes.subarray(0, 8).toString('hex')).toBe(PNG_SIGNATURE);
    expect(bytes.length).toBeGreaterThan(5_000);
    // Width and height: those of the plot, with its legend.
    expect(bytes.readUInt32BE(16)).toBeGreaterThan(600);
    expect(bytes.readUInt32BE(20)).toBeGreaterThan(250);
  });

  it('keep the chosen range in the address, in the time of the board', async () => {
    await page.goto(boardPath());
    await page.getByRole('button', { name: 'Last 24 hours' }).click();
    await page.getByRole('button', { name: 'Last 7 days' }).click();
    await waitFor(async () => page.url().endsWith('?last=604800'), { what: 'the address of 7 days' });
    await page.getByRole('button', { name: 'Last 7 days' }).click();
    await page.getByLabel('From', { exact: true }).fill('2026-03-29T00:00');
    await page.getByLabel('To', { exact: true }).fill('2026-03-28T00:00');
    await page.getByText('The end must be after the start.').waitFor();
    await page.getByLabel('To', { exact: true }).fill('2026-03-30T00:00');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await chart('Amount by model').getByText('No usage in this range').waitFor();
    const range = new URL(page.url()).searchParams;
    expect([range.get('from'), range.get('to')]).toEqual(['1774742400', '1774828800']);
    await page.reload();
    await page.getByRole('button', { name: '29 Mar 2026, 00:00 to 30 Mar 2026, 00:00' }).waitFor();
    await chart('Amount by model').getByRole('button', { name: 'Show last usage' }).click();
    await chart('Amount by model').locator('canvas').waitFor();
  });

  it('keep edits that are not saved, and make a copy of a chart', async () => {
    await page.goto(boardPath());
    await choose('Tokens by kind', 'Duplicate');
    const editor = page.getByRole('dialog', { name: 'New chart' });
    await editor.getByLabel('Title').fill('Tokens, another time');
    await page.mouse.click(5, 5);
    await editor.getByLabel('Title').waitFor();
    for (const leave of ['Escape', 'Close', 'Cancel']) {
      if (leave === 'Escape') await page.keyboard.press(leave);
      else await editor.getByRole('button', { name: leave }).click();
      await page.getByRole('dialog', { name: 'Close without saving?' }).getByText('not saved').waitFor();
      await page.getByRole('button', { name: 'Stay' }).click();
    }
    await editor.getByRole('button', { name: 'Add chart' }).click();
    await chart('Tokens, another time').locator('canvas').waitFor();
    await choose('Tokens, another time', 'Delete');
    await page.getByRole('button', { name: 'Delete chart' }).click();
    await chart('Tokens, another time').waitFor({ state: 'detached' });
  });

  it('are filtered by values that hold commas', async () => {
    await choose('Tokens by kind', 'Duplicate');
    const editor = page.getByRole('dialog', { name: 'New chart' });
    await editor.getByLabel('Title').fill('Tokens of few');
    await editor.getByRole('button', { name: 'Add filter' }).click();
    const dimension = await editor.getByLabel('Dimension').inputValue();
    const value = editor.getByLabel(`Add value for ${dimension}`);
    for (const text of ['one, and two', 'three', 'not this']) {
      await value.fill(text);
      await value.press('Enter');
    }
    await editor.getByRole('button', { name: 'Remove not this' }).click();
    await value.and(page.locator(':focus')).waitFor();
    // Backspace that is held down clears the text, and then removes no value.
    for (const key of ['x', 'Backspace', 'Backspace', 'Backspace']) await page.keyboard.down(key);
    await editor.getByRole('button', { name: 'Add filter' }).click();
    await editor.getByLabel('Condition', { exact: true }).last().selectOption('is not set');
    // A value that is typed but not added yet is saved too.
    await value.fill('four');
    const posted = page.waitForRequest((request) => request.url().endsWith('/charts'));
    await editor.getByRole('button', { name: 'Add chart' }).click();
    const filters = Object.values((await posted).postDataJSON().filters);
    expect(filters).toEqual([{ in: ['one, and two', 'three', 'four'] }, { exists: false }]);
    await choose('Tokens of few', 'Edit');
    await page.getByRole('listitem').getByText('one, and two', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await choose('Tokens of few', 'Delete');
    await page.getByRole('button', { name: 'Delete chart' }).click();
    await chart('Tokens of few').waitFor({ state: 'detached' });
  });

  it('break no content policy and log no error', () => {
    expect(opened.problems).toEqual([]);
  });

  const recently = () => Math.floor(Date.now() / 1_000) + 60;
  let sent = 0;
  async function send(count: number): Promise<void> {
    const { client, tenant } = opened;
    const events = Array.from({ length: count }, () => ({
      extractor_rule_set_id: tenant.ruleSetId,
      idempotency_key: `boards-${++sent}`,
      occurred_at: Math.floor(Date.now() / 1_000),
      raw_json: { customer: CUSTOMER, model: 'gpt-5', usage: { input_tokens: 10, output_tokens: 10 } },
    }));
    await client.project(tenant.projectId).batchIngest({ source: SOURCE, events });
  }
});
