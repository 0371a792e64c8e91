import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LaunchedBrowser, launchBrowser } from './support/browser.js';
import { type RunningService, startService } from './support/service.js';

/** The packaged Chromium is built for this platform alone. */
const hasBrowser = process.platform === 'linux' && process.arch === 'x64';

describe.runIf(hasBrowser)('the documentation page in a browser', () => {
  let service: RunningService;
  let launched: LaunchedBrowser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    service = await startService();
    launched = await launchBrowser();
    page = await launched.browser.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(service.url)) problems.push(`asked for ${request.url()}`);
    });
    await page.goto(`${service.url}/docs`);
  });
  afterAll(async () => {
    await launched?.close();
    await service?.stop();
  });

  it('leads to an operation and shows its path', async () => {
    await page.getByRole('heading', { name: 'Tollgate' }).waitFor();
    await page.getByText('Send many events').first().click();
    await page.getByText('/v1/projects/{project_id}/events/batch-ingest').first().waitFor();
  });

  it('loads nothing from elsewhere, breaks no content policy and logs no error', () => {
    expect(problems).toEqual([]);
  });
});
