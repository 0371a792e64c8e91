import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, launchBrowser, problemsOf } from './support/browser.js';
import type { RunningService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

describe.runIf(hasBrowser)('the documentation page in a browser', () => {
  let service: RunningService;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    service = await sharedService();
    browser = await launchBrowser();
    page = await browser.newPage();
    problems = problemsOf(page, service.url);
    await page.goto(`${service.url}/docs`);
  });
  afterAll(async () => {
    await browser?.close();
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
