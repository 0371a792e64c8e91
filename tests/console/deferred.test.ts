import { afterAll, beforeAll, expect, it } from 'vitest';
import { publishSlowRules, slowBatch } from '../../packages/service/src/testing/slow-rules.js';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { hasBrowser, type OpenConsole, openConsole } from '../support/console.js';
import { call } from '../support/http.js';

const SLOW_EVENTS = 200;
const SETTLE_TIMEOUT_MS = 180_000;

let opened: OpenConsole;
beforeAll(async () => {
  // Its slow rules would delay the events of other tests.
  if (hasBrowser) opened = await openConsole({ env: () => ({}) });
});
afterAll(() => opened?.close());

it.runIf(hasBrowser)(
  'the console says how many events wait for their turn, how long, and why',
  async () => {
    const { service, tenant, page } = opened;
    const post = async (path: string, body?: object | string) => {
      const url = `/v1/projects/${tenant.projectId}${path}`;
      const answer = await call(service, 'POST', url, { key: tenant.key, body });
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    await opened.signIn();
    await opened.goTo('Usage');
    const note = page.getByText(/accepted events? (is|are) waiting to be rated/);
    expect(await note.count()).toBe(0);

    const ruleSetId = await publishSlowRules(post);
    const occurredAt = Math.floor(Date.now() / 1_000);
    const batch = slowBatch(ruleSetId, { name: 'slow', count: SLOW_EVENTS, occurredAt });
    await post('/events/batch-ingest', batch);
    const { usage } = opened.client.project(tenant.projectId);
    await waitFor(async () => (await usage.ingestStatus()).deferred_count > 0, { what: 'deferred events' });
    await page.reload();
    await note.waitFor();
    const sentence =
      /^\d+ accepted events are waiting to be rated, the oldest for \d+ (seconds?|minutes), because the events of your projects take long to rate\./;
    expect(await note.locator('..').textContent()).toMatch(sentence);

    await waitFor(async () => (await usage.ingestStatus()).pending === 0, {
      timeoutMs: SETTLE_TIMEOUT_MS,
      what: 'the last of the slow events',
    });
    await note.waitFor({ state: 'detached' });
    expect(opened.problems).toEqual([]);
  },
  300_000,
);
