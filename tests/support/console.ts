import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TollgateClient } from '@tollgate/sdk';
import type { Page } from 'playwright-core';
import { sampleCall, seededRandom } from '../../packages/service/src/main/demo/sample-traffic.js';
import { type DemoTenant, ensureDemoTenant } from '../../packages/service/src/main/demo/tenant.js';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { launchBrowser, problemsOf } from './browser.js';
import { newService, type RunningService } from './service.js';
import { sharedService } from './shared-service.js';

export { hasBrowser } from './browser.js';

/** The source and the customer of the sample events of `openConsole`. */
export const SOURCE = 'console-test';
export const CUSTOMER = 'cust_001';

/** A running service with the demo's tenant, and a page of a browser that looks at it. */
export interface OpenConsole {
  readonly service: RunningService;
  readonly tenant: DemoTenant;
  readonly client: TollgateClient;
  readonly page: Page;
  /** The problems of every page, see `problemsOf`. */
  readonly problems: string[];
  /** Signs in by the link that the demo prints. */
  signIn(): Promise<void>;
  /** A page that has its clock, its routes and its session for itself, signed in by the same link. */
  openAnother(): Promise<Page>;
  /** Clicks a part of the project in the navigation; does not wait for it. */
  choose(part: string): Promise<void>;
  /** Chooses it, and waits for its page. */
  goTo(part: string): Promise<void>;
  close(): Promise<void>;
}

export interface ConsoleOptions {
  readonly events?: number;
  /** Environment variables of a service of its own, which may name its address. By default the service is shared. */
  readonly env?: (serviceUrl: string) => Readonly<Record<string, string>>;
}

/** Creates a tenant with some sample events of `CUSTOMER`, and starts a browser that is not signed in. */
export async function openConsole({ events = 30, env }: ConsoleOptions = {}): Promise<OpenConsole> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-console-'));
  const service = env === undefined ? await sharedService() : await startWith(env);
  const { tenant } = await ensureDemoTenant(service.url, service.serviceKey, folder);
  const client = new TollgateClient({ baseUrl: service.url, apiKey: tenant.key });
  if (events > 0) await sendSampleEvents(client, tenant, events);
  const browser = await launchBrowser();
  const problems: string[] = [];
  const newPage = async () => {
    const page = await browser.newPage({
      locale: 'en-GB',
      // Each frame of a transition is drawn by the processor.
      reducedMotion: 'reduce',
      viewport: { width: 1_280, height: 900 },
    });
    problemsOf(page, service.url, problems);
    return page;
  };
  const signInOn = async (page: Page) => {
    // From elsewhere: on the page itself another fragment loads nothing.
    await page.goto('about:blank');
    await page.goto(`${service.url}/sign-in#key=${tenant.key}`);
    await page.getByRole('heading', { name: 'Boards' }).waitFor();
  };
  const page = await newPage();
  const partLink = (part: string) =>
    page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: part, exact: true });
  return {
    ...{ service, tenant, client, page, problems },
    signIn: () => signInOn(page),
    openAnother: async () => {
      const another = await newPage();
      await signInOn(another);
      return another;
    },
    choose: (part) => partLink(part).click(),
    goTo: async (part) => {
      await partLink(part).click();
      // Until a page is loaded that is looked at for the first time, the one before it stays.
      await page.getByRole('heading', { name: part, level: 1 }).waitFor();
    },
    close: async () => {
      await browser.close();
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startWith(env: (serviceUrl: string) => Readonly<Record<string, string>>) {
  const service = await newService();
  await service.start(env(service.url));
  return service;
}

async function sendSampleEvents(client: TollgateClient, tenant: DemoTenant, count: number): Promise<void> {
  const project = client.project(tenant.projectId);
  const random = seededRandom(1);
  const occurred_at = Math.floor(Date.now() / 1_000);
  const events = Array.from({ length: count }, (_, index) => ({
    extractor_rule_set_id: tenant.ruleSetId,
    idempotency_key: `console-${index}`,
    occurred_at,
    raw_json: { ...sampleCall(index, random), customer: CUSTOMER },
  }));
  await project.batchIngest({ source: SOURCE, events });
  await waitFor(async () => (await project.usage.events({ limit: 100 })).events.length === count, {
    timeoutMs: 120_000,
    what: 'the sample events',
  });
}
