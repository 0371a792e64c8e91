import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.js';
import { systemClock } from '../../kernel/clock.js';
import { prepareDataDir } from '../data-dir.js';
import { withInstanceLock } from '../instance.js';
import { runUntil } from '../serve.js';
import { type Service, startService } from '../service.js';
import { aborted, StopSignals } from '../signals.js';
import { StartError } from '../start-error.js';
import { resetEmbeddedStores } from '../stores.js';
import { createCommandLog } from '../with-stores.js';
import { type DemoTenant, demoBoardId, ensureDemoTenant } from './tenant.js';
import { historyQueryable, sendHistory, sendLiveTraffic } from './traffic.js';

/**
 * Settings that the demo changes. Plans can be tried out: they are paid at the sandbox unless a provider is configured.
 * Webhooks may go to a receiver on the same machine.
 */
export function demoConfig(config: Config): Config {
  return { ...config, paymentProvider: config.paymentProvider ?? 'sandbox', webhookAllowPrivate: true };
}

/** `tollgate demo`: the service with a sample tenant and live sample traffic. Returns the exit code. */
export async function demo(configured: Config, { reset }: { reset: boolean }): Promise<number> {
  const config = demoConfig(configured);
  if (config.roles.length < 3) throw new StartError('The demo runs all roles; leave TOLLGATE_ROLES unset.');
  const startedAt = performance.now();
  const signals = new StopSignals();
  const { stopping } = signals;
  const isFirstStart = reset || !existsSync(join(config.dataDir, 'demo.json'));
  if (reset) await startOver(config);
  say(isFirstStart ? 'preparing the first start …' : 'starting …');
  // On a terminal the demo's own lines are enough; problems still show.
  const log = createCommandLog(config);
  const onProgress = (step: string) => say(`${step} …`);
  const service = await startService(config, { log, onProgress, signal: stopping });
  const url = service.url as string;
  const tenant = await furnish(service, url, config.dataDir).catch(async (error) => {
    await service.stop();
    throw error;
  });
  const traffic = new AbortController();
  const sending = sendLiveTraffic(url, tenant, systemClock, traffic.signal);
  const boardId = await demoBoardId(url, tenant).catch(() => undefined);
  welcome(service, url, { tenant, boardId }, (performance.now() - startedAt) / 1_000);
  void aborted(stopping).then(() => say('stopping …'));
  void Promise.race([aborted(stopping), service.failure]).then(() => traffic.abort());
  const onFailure = (reason: string) => console.error(`tollgate: ${reason}`);
  const exitCode = await runUntil(service, signals, { drainMs: 0, onFailure });
  await sending;
  say(`stopped; your data is kept in ${config.dataDir}`);
  return exitCode;
}

/** Returns the sample tenant, with a day of usage at the first start. */
async function furnish({ serviceKey }: Service, url: string, dataDir: string): Promise<DemoTenant> {
  const { tenant, isNew } = await ensureDemoTenant(url, serviceKey.text, dataDir);
  if (isNew) {
    say('sending a day of sample events …');
    await sendHistory(url, tenant, systemClock);
    await historyQueryable(url, tenant);
  }
  return tenant;
}

/** Deletes the embedded stores, and the sample tenant with them. Databases on a server are never changed. */
async function startOver(config: Config): Promise<void> {
  if (config.databaseUrl !== undefined || config.clickhouseUrl !== undefined) {
    throw new StartError('--reset empties the embedded stores only; empty your own servers yourself.');
  }
  prepareDataDir(config);
  say(`starting over: emptying ${config.dataDir} …`);
  await withInstanceLock(config, async () => {
    await resetEmbeddedStores(config);
    for (const file of ['demo.json', 'service-key']) rmSync(join(config.dataDir, file), { force: true });
  });
}

function say(text: string): void {
  console.log(`tollgate: ${text}`);
}

interface Opened {
  readonly tenant: DemoTenant;
  readonly boardId: string | undefined;
}

/** The URL that signs a browser in to the demo and shows its board. */
export function demoLink(url: string, { tenant: { key, projectId }, boardId }: Opened): string {
  const from =
    boardId === undefined ? '' : `?from=${encodeURIComponent(`/p/${projectId}/boards/${boardId}`)}`;
  return `${url}/sign-in${from}#key=${key}`;
}

function welcome({ serviceKey, places }: Service, url: string, opened: Opened, seconds: number): void {
  const { tenant } = opened;
  const project = `${url}/v1/projects/${tenant.projectId}`;
  const lines = [
    '',
    `Tollgate demo is ready (${seconds.toFixed(1)} s). Live LLM traffic is flowing.`,
    '',
    `  Open         ${demoLink(url, opened)}`,
    `  API          ${url}/docs`,
    `  API key      ${tenant.key}`,
    `  Service key  ${serviceKey.file ?? 'as configured'}`,
    ...places.map(([name, place]) => `  ${name.padEnd(12)} ${place}`),
    '',
    'Send an event and keep its ID:',
    '',
    `  EVENT=$(curl -s ${project}/extractor-rule-sets/${tenant.ruleSetId}/events/ingest \\`,
    `    -H 'Authorization: Bearer ${tenant.key}' -H 'Content-Type: application/json' \\`,
    `    -d '{"source": "curl", "occurred_at": '$(date +%s)', "raw_json": {"customer": "cust_me", "model": "gpt-5", "usage": {"input_tokens": 1200, "output_tokens": 340}}}' \\`,
    `    | sed 's/.*"raw_event_id":"\\([^"]*\\)".*/\\1/'); echo "$EVENT"`,
    '',
    'See its price once it is rated, and the price list behind it:',
    '',
    `  curl -sw '\\n' "${project}/usage/events/$EVENT?wait_seconds=10" -H 'Authorization: Bearer ${tenant.key}'`,
    `  curl -sw '\\n' '${project}/pricing-rule-sets?purpose=price' -H 'Authorization: Bearer ${tenant.key}'`,
    '',
    'See the limit status of that customer:',
    '',
    `  curl -sw '\\n' '${project}/subject/realtime/limits?subject_type=customer&subject_id=cust_me' -H 'Authorization: Bearer ${tenant.key}'`,
    '',
    'See the amount, the cost and the margin of each model in the last 24 hours:',
    '',
    `  curl -s ${project}/analysis/query \\`,
    `    -H 'Authorization: Bearer ${tenant.key}' -H 'Content-Type: application/json' -H 'Accept: text/csv' \\`,
    `    -d '{"split_by": [], "measures": ["amount", "cost", "margin"], "time_range": {"last_seconds": 86400}, "bucket_size": "none", "group_by": ["model"]}'`,
    '',
    'Stop with Ctrl-C. Your data is kept; `npm start -- --reset` starts over.',
    '',
  ];
  console.log(lines.join('\n'));
}
