import { readFileSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { CUSTOMER, hasBrowser, type OpenConsole, openConsole, SOURCE } from '../support/console.js';

const EVENTS = 60;
const XSS = '<img src=x onerror=alert(1)>';
/** More digits than a double holds, and more than a quantity may have. */
const LONG_NUMBER = '12345678901234567890123';

describe.runIf(hasBrowser)('usage in the console', () => {
  let opened: OpenConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ events: EVENTS });
    ({ page } = opened);
    await opened.signIn();
    await opened.goTo('Usage');
  });
  afterAll(() => opened?.close());

  const rows = () => page.getByRole('region', { name: 'Events' }).locator('tbody tr');
  const showsRows = (count: number) =>
    waitFor(async () => (await rows().count()) === count, { what: `${count} rows` });

  /** Sends one event as it stands, and waits until it is rated or has failed. */
  async function send(source: string, rawJson: string, ruleSetId = opened.tenant.ruleSetId): Promise<void> {
    const { projectId, key } = opened.tenant;
    const project = `${opened.service.url}/v1/projects/${projectId}`;
    const occurredAt = Math.floor(Date.now() / 1_000);
    const answer = await fetch(`${project}/extractor-rule-sets/${ruleSetId}/events/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: `{"source": ${JSON.stringify(source)}, "occurred_at": ${occurredAt}, "raw_json": ${rawJson}}`,
    });
    const { raw_event_id: id } = (await answer.json()) as { raw_event_id: string };
    await waitFor(
      async () => {
        const { events } = await opened.client.project(projectId).usage.events({ source });
        return events.some(({ raw_event_id }) => raw_event_id === id);
      },
      { timeoutMs: 120_000, what: 'the event' },
    );
  }

  it('narrows the list by filters that are in the address, so that a link shows the same', async () => {
    await showsRows(50);
    await page.getByRole('button', { name: 'Show older' }).click();
    await showsRows(EVENTS);
    await page.getByLabel('Time').selectOption('Last hour');
    await page.getByLabel('Metric').fill('llm.output_tokens');
    await page.getByLabel('Subject ID').fill(CUSTOMER);
    await waitFor(async () => page.url().includes(`subject_id=${CUSTOMER}`), { what: 'the address' });
    expect(new URL(page.url()).searchParams.get('metric')).toBe('llm.output_tokens');
    expect(new URL(page.url()).searchParams.get('last')).toBe('3600');
    await page.reload();
    await rows().first().waitFor();
    expect(await page.getByLabel('Metric').inputValue()).toBe('llm.output_tokens');
    await page.getByLabel('Source').fill(XSS);
    await page.getByText('No matching events').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await showsRows(50);
    expect(new URL(page.url()).search).toBe('');
  });

  it('shows how the numbers of an event came about, and leads on by keyboard', async () => {
    await rows().nth(1).getByRole('button').click();
    const panel = page.getByRole('dialog', { name: 'Event' });
    const explanation = panel.getByRole('region', { name: 'Calculation' });
    await explanation.getByText('$.usage.output_tokens').waitFor();
    await explanation.getByText(/^led_/).first().waitFor();
    const second = new URL(page.url()).searchParams.get('event');
    await page.keyboard.press('j');
    await waitFor(async () => !page.url().includes(second ?? ''), { what: 'the third event' });
    await page.keyboard.press('ArrowLeft');
    await waitFor(async () => page.url().includes(second ?? ''), { what: 'the second event' });
    await page.reload();
    await panel.getByText(second ?? '').waitFor();
    await panel.getByRole('button', { name: 'Copy link' }).waitFor();
    await explanation.getByText(/^led_/).first().click();
    await panel.waitFor({ state: 'detached' });
    await waitFor(async () => page.url().includes('ledger_transaction_id=led_'), { what: 'the posting' });
    await rows().first().waitFor();
  });

  it('follows new events, and moves nothing while one reads', async () => {
    await page.getByRole('button', { name: 'Clear' }).click();
    await showsRows(50);
    await page.getByRole('button', { name: 'Follow' }).click();
    await send('followed', `{"customer": "${CUSTOMER}", "model": "gpt-5", "usage": {"input_tokens": 3}}`);
    await rows().first().getByText('followed').waitFor();
    await page.mouse.wheel(0, 600);
    await waitFor(async () => (await page.evaluate<number>('scrollY')) > 100, { what: 'the scrolling' });
    await send('unseen', `{"customer": "${CUSTOMER}", "model": "gpt-5", "usage": {"input_tokens": 4}}`);
    const button = page.getByRole('button', { name: '1 new event' });
    await button.waitFor();
    await rows().first().getByText('followed').waitFor();
    await button.click();
    await rows().first().getByText('unseen').waitFor();
    await page.getByRole('button', { name: 'Following' }).click();
  });

  it('counts failures by reason, and shows digits as they were sent', async () => {
    for (const source of ['broken', 'broken too']) await send(source, `{"customer": "${CUSTOMER}"}`);
    const usage = `{"output_tokens": ${LONG_NUMBER}}`;
    await send('broken', `{"customer": "${CUSTOMER}", "model": "${XSS}", "usage": ${usage}}`);
    await page.reload();
    await page.getByText('3 events failed').waitFor();
    await page.getByRole('button', { name: 'Show reasons' }).click();
    const failures = page.getByRole('region', { name: 'Failures by reason' });
    await failures.getByRole('heading', { name: '3 failed events by reason' }).waitFor();
    await showsRows(3);
    await failures.getByRole('button', { name: /decimal_out_of_range/ }).click();
    await showsRows(1);
    await rows().first().getByRole('button').click();
    const sent = page.getByRole('dialog').getByRole('region', { name: 'Event as sent' });
    await sent.getByText(LONG_NUMBER).waitFor();
    await sent.getByText(XSS).waitFor();
    // Its customer has a route, by which it would have been charged.
    await page.getByRole('dialog').getByText('None: failed events are not routed').waitFor();
    expect(await page.getByRole('dialog').getByText('had no route').count()).toBe(0);
    await page.getByRole('button', { name: 'Reprocess' }).click();
    await page.getByText('Queued for reprocessing.').waitFor();
    await page.keyboard.press('Escape');
  });

  it('has all failures that fit rated again, and shows the progress', async () => {
    const failures = page.getByRole('region', { name: 'Failures by reason' });
    await failures.getByRole('button', { name: /decimal_out_of_range/ }).click();
    await failures.getByRole('button', { name: /dimension_missing/ }).click();
    await showsRows(2);
    const dialog = page.getByRole('dialog', { name: 'Reprocess failed events' });
    // By one request: a code and a time say all of it.
    await failures.getByRole('button', { name: /^Reprocess 2/ }).click();
    await dialog.getByRole('button', { name: 'Reprocess 2' }).click();
    await dialog.getByText('2 of 2 reprocessed, 2 failed again.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    // One by one: the service is not asked for a source.
    await page.getByLabel('Source').fill('broken too');
    await showsRows(1);
    await failures.getByRole('button', { name: /^Reprocess 1/ }).click();
    await dialog.getByRole('button', { name: 'Reprocess 1' }).click();
    await dialog.getByText('1 of 1 reprocessed, 1 failed again.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
  });

  it('exports what is filtered', async () => {
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Source').fill(SOURCE);
    await waitFor(async () => page.url().includes(SOURCE), { what: 'the filter' });
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: /^NDJSON/ }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('usage-events.ndjson');
    const lines = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(EVENTS);
    expect(lines.every((line) => JSON.parse(line).source === SOURCE)).toBe(true);
  });

  it('forgets a filter whose typing was left for another page, also while that is still loaded', async () => {
    const { service, tenant } = opened;
    // Its own page, with its own clock and its own blocked requests.
    const other = await opened.openAnother();
    await other.clock.install();
    await other.goto(`${service.url}/p/${tenant.projectId}/usage`);
    await other.getByRole('region', { name: 'Events' }).waitFor();
    const held: Route[] = [];
    await other.route('**/assets/limits-pages-*.js', (route) => void held.push(route));
    await other.clock.pauseAt(Date.now() + 60_000);
    await other.getByLabel('Source').fill(SOURCE);
    await other
      .getByRole('navigation', { name: 'Project' })
      .getByRole('link', { name: 'Limits', exact: true })
      .click();
    await waitFor(async () => held.length > 0, { what: 'the request for the page' });
    await other.clock.runFor(5_000);
    await other.clock.resume();
    for (const route of held) await route.continue();
    await other.getByRole('heading', { name: 'Limits', level: 1 }).waitFor();
    expect(other.url()).toMatch(/\/limits$/);
    await other.close();
  });

  it('keeps an event open, and closes it, while the list is read for a filter that was typed before', async () => {
    const { service, tenant } = opened;
    const other = await opened.openAnother();
    await other.clock.install();
    await other.goto(`${service.url}/p/${tenant.projectId}/usage`);
    const row = other.getByRole('region', { name: 'Events' }).locator('tbody button').first();
    await row.waitFor();
    const held: Route[] = [];
    await other.route(`**/usage/events?*source=${SOURCE}*`, (route) => void held.push(route));
    await other.clock.pauseAt(Date.now() + 60_000);
    await other.getByLabel('Source').fill(SOURCE);
    await row.click();
    const event = other.getByRole('dialog', { name: 'Event' });
    const sent = event.getByText(`"customer": "${CUSTOMER}"`);
    await waitFor(async () => {
      // Loaded rows appear after a moment of this clock; typed text takes effect after many.
      await other.clock.runFor(1);
      return sent.isVisible();
    });
    await other.clock.runFor(5_000);
    await waitFor(async () => held.length > 0, { what: 'the request for the list' });
    await other.keyboard.press('Escape');
    await event.waitFor({ state: 'detached' });
    await other.clock.resume();
    for (const route of held) await route.continue();
    await row.waitFor();
    expect(await event.count()).toBe(0);
    await other.close();
  });

  it('marks events with a note, and finds them by it', async () => {
    const { extractorRuleSets } = opened.client.project(opened.tenant.projectId);
    const { id } = await extractorRuleSets.create({
      name: 'Clamped',
      charge_item_extractors: [
        { metric: 'out', path: 'n', less_paths: ['a'], on_negative: 'clamp', type: 'number' },
      ],
    });
    await extractorRuleSets.publish(id);
    await send('noted', '{"n": 5, "a": 2}', id);
    await send('noted', '{"n": 5, "a": 6}', id);
    await opened.goTo('Usage');
    await page.getByLabel('Source').fill('noted');
    await showsRows(2);
    expect(await rows().getByText('1 note').count()).toBe(1);
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Notes').selectOption('Nothing subtracted');
    await page.getByRole('heading', { name: 'No matching events' }).waitFor();
    await page.getByLabel('Notes').selectOption('Quantity set to 0');
    await showsRows(1);
    expect(new URL(page.url()).searchParams.get('note')).toBe('quantity_clamped');
    await rows().first().getByRole('button').click();
    await page.getByRole('dialog').getByText('The amounts to subtract exceed the quantity of out').waitFor();
    await page.keyboard.press('Escape');
  });

  it('fits a phone', async () => {
    await page.setViewportSize({ width: 360, height: 780 });
    await page.reload();
    await rows().first().waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.getByRole('button', { name: 'Open menu' }).click();
    await opened.goTo('Settings');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
  });

  it('breaks no content policy and logs no error', () => {
    expect(opened.problems).toEqual([]);
  });
});
