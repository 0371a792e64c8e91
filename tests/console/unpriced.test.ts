import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { CUSTOMER, hasBrowser, type OpenConsole, openConsole } from '../support/console.js';

const METRIC = 'support.minutes';

describe.runIf(hasBrowser)('usage without a price in the console', () => {
  let opened: OpenConsole;
  let page: Page;
  let eventId: string;

  beforeAll(async () => {
    opened = await openConsole({ events: 3 });
    ({ page } = opened);
    await opened.signIn();
    // Events of one second are listed by their ids, which are random: the next event must be the newest.
    const { events } = await project().usage.events({ limit: 1 });
    const sampleS = events[0]?.occurred_at ?? 0;
    await waitFor(() => Date.now() >= (sampleS + 1) * 1_000);
    eventId = await send('unpriced');
  });
  afterAll(() => opened?.close());

  const project = () => opened.client.project(opened.tenant.projectId);
  const banner = () => page.getByRole('region', { name: 'Usage without a price' });
  const busyBanner = () => page.locator('section[aria-label="Usage without a price"][aria-busy="true"]');
  const event = () => page.getByRole('dialog', { name: 'Event' });
  const noPrice = () => page.getByRole('region', { name: `No price for ${METRIC}` });

  /** Holds back the requests that fit until they are released; `asked` once there is one. */
  async function hold(fits: (url: URL) => boolean) {
    let ask = () => {};
    let release = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(fits, async (route) => {
      ask();
      await isReleased;
      await route.continue();
    });
    return { asked, release: () => release() };
  }

  /** Sends an event with a charge item that no rule prices; returns its id once it is rated or has failed. */
  async function send(source: string): Promise<string> {
    const { service, tenant } = opened;
    const base = `${service.url}/v1/projects/${tenant.projectId}`;
    const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${base}/extractor-rule-sets/${tenant.ruleSetId}/events/ingest`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        source,
        occurred_at: Math.floor(Date.now() / 1_000),
        raw_json: { model: 'gpt-5', customer: CUSTOMER },
        'x-billing': { items: [{ metric: METRIC, quantity: 3 }] },
      }),
    });
    const { raw_event_id: id } = (await answer.json()) as { raw_event_id: string };
    const rated = await fetch(`${base}/usage/events/${id}?wait_seconds=10`, { headers });
    expect(rated.status).toBe(200);
    return id;
  }

  it('is counted on Usage, and leads to its events', async () => {
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/usage?last=3600`);
    await banner()
      .getByText(/1 event in this range has charge items without a price/)
      .waitFor();
    expect(await banner().textContent()).toContain(METRIC);
    await banner().getByRole('link', { name: 'Show them' }).click();
    const rows = page.getByRole('region', { name: 'Events' }).locator('tbody tr');
    await waitFor(async () => (await rows.count()) === 1, { what: 'the one event' });
    expect(new URL(page.url()).searchParams.get('pricing_source')).toBe('unpriced');
    await banner().getByRole('link', { name: 'rate them again' }).click();
    const correct = page.getByRole('dialog', { name: 'Correct matching events' });
    await correct.getByRole('region', { name: 'Events' }).getByText('unpriced').waitFor();
    expect(await correct.getByLabel('Action').inputValue()).toBe('rerate');
    await page.keyboard.press('Escape');
    await correct.waitFor({ state: 'detached' });
  });

  it('moves no row under the pointer while it is counted again for another filter', async () => {
    const held = await hold(
      ({ searchParams: asked }) => asked.get('count') === 'unpriced' && asked.has('pricing_source'),
    );
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/usage?last=7200`);
    await banner().getByRole('link', { name: 'Show them' }).click();
    const rows = page.getByRole('region', { name: 'Events' }).locator('tbody tr');
    await waitFor(async () => (await rows.count()) === 1, { what: 'the one event' });
    await rows.first().hover();
    await page.mouse.down();
    held.release();
    const isCounted = async () => (await banner().count()) === 1 && (await busyBanner().count()) === 0;
    await waitFor(isCounted, { what: 'the count' });
    await page.mouse.up();
    await event().waitFor();
    await page.keyboard.press('Escape');
    await event().waitFor({ state: 'detached' });
  });

  it('is explained in the event, by the metrics that have a price', async () => {
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/usage?event=${eventId}`);
    await noPrice().getByText(`No price rule names the metric ${METRIC}.`).waitFor();
    await noPrice()
      .getByText(/Rules price .*llm\.input_tokens/)
      .waitFor();
    await page.keyboard.press('Escape');
    await event().waitFor({ state: 'detached' });
  });

  it('is counted on a board, which leads to the rules', async () => {
    await opened.goTo('Boards');
    await page.getByRole('main').getByRole('link', { name: 'LLM usage' }).click();
    await banner()
      .getByText(/1 event in this range has charge items without a price/)
      .waitFor();
    await banner().getByRole('link', { name: 'add a price' }).click();
    await page.getByRole('heading', { name: 'Rules', level: 1 }).waitFor();
  });

  it('is explained in a test of the rules on the newest event, too', async () => {
    await page.getByRole('main').getByRole('link', { name: 'LLM calls', exact: true }).click();
    await page
      .getByRole('navigation', { name: 'Rule set' })
      .getByRole('link', { name: 'Test', exact: true })
      .click();
    await noPrice().getByText(`No price rule names the metric ${METRIC}.`).waitFor();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('no price', { exact: true }).waitFor();
  });

  it('is explained there, too, where a subject was entered before the newest event was there', async () => {
    const held = await hold(({ pathname }) => pathname.endsWith(`/usage/events/${eventId}`));
    await page.reload();
    await page.getByText('Subject and x-billing (optional)').click();
    await page.getByLabel('Subject type').fill('customer');
    await page.getByLabel('Subject ID').fill(CUSTOMER);
    await held.asked;
    held.release();
    await noPrice().getByText(`No price rule names the metric ${METRIC}.`).waitFor();
    expect(await page.getByLabel('Subject ID').inputValue()).toBe(CUSTOMER);
  });

  it('fails events once the extractor rule set says so, and they are rated again when there is a price', async () => {
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await page
      .getByRole('navigation', { name: 'Rule set' })
      .getByRole('link', { name: 'Edit', exact: true })
      .click();
    await page.getByLabel('When a charge item has no price').selectOption('Fail the event');
    await button('Publish…').click();
    await page.getByRole('dialog').getByText('on_unpriced').waitFor();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Publish version/ })
      .click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await project().extractorRuleSets.get(opened.tenant.ruleSetId)).toMatchObject({
      on_unpriced: 'fail',
    });
    const failedId = await send('fails');
    await page.goto(`${opened.service.url}/p/${opened.tenant.projectId}/usage?event=${failedId}`);
    await noPrice().getByText(`No price rule names the metric ${METRIC}.`).waitFor();

    const prices = await project().pricingRuleSets.create({
      extractor_rule_set_id: opened.tenant.ruleSetId,
      effective_from: 0,
      rules: [{ metric: METRIC, unit_price_expr: 'dec("2")' }],
    });
    await project().pricingRuleSets.publish(prices.id);
    const isPriced = async () => {
      const { unpriced } = await project().usage.event(failedId);
      return unpriced.length === 0;
    };
    await waitFor(isPriced, { what: 'the price' });
    await page.reload();
    await event().getByText('The active rules now price every charge item of this event.').waitFor();
    await button('Reprocess').click();
    await event().getByText('Queued for reprocessing.').waitFor();
    const amounts = async () => {
      const { charge_items } = await project().usage.event(failedId);
      return charge_items.map(({ amount }) => amount);
    };
    await waitFor(async () => (await amounts()).includes('6'), { what: 'the amount' });
  });

  it('breaks no content policy and logs no error', () => {
    expect(opened.problems).toEqual([]);
  });
});
