import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TollgateClient } from '@tollgate/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sampleCall, seededRandom } from '../packages/service/src/main/demo/sample-traffic.js';
import { type DemoTenant, demoBoardId, ensureDemoTenant } from '../packages/service/src/main/demo/tenant.js';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { type RunningService, startService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

let service: RunningService;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-demo-'));
  service = await sharedService();
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const projectOf = ({ key, projectId }: DemoTenant) =>
  new TollgateClient({ baseUrl: service.url, apiKey: key }).project(projectId);

it('has a board whose every chart shows something, and gets no second one at the next start', async () => {
  const first = await ensureDemoTenant(service.url, service.serviceKey, folder);
  expect(first.isNew).toBe(true);
  const project = projectOf(first.tenant);
  const random = seededRandom(1);
  const occurred_at = Math.floor(Date.now() / 1_000);
  const events = Array.from({ length: 50 }, (_, index) => ({
    extractor_rule_set_id: first.tenant.ruleSetId,
    idempotency_key: `demo-${index}`,
    occurred_at,
    raw_json: sampleCall(index, random),
  }));
  await project.batchIngest({ source: 'demo', events });
  await waitFor(async () => (await project.usage.events({ limit: 100 })).events.length === events.length, {
    timeoutMs: 120_000,
    what: 'the sample events',
  });

  const again = await ensureDemoTenant(service.url, service.serviceKey, folder);
  expect(again).toEqual({ tenant: first.tenant, isNew: false });
  const { boards } = await project.boards.list();
  expect(boards.map(({ board }) => board.name)).toEqual(['LLM usage', 'Margin by model and customer']);
  expect(await demoBoardId(service.url, first.tenant)).toBe(boards[0]?.board.report_id);
  const charts = boards.flatMap((each) => each.charts);
  expect(charts.length).toBeGreaterThanOrEqual(4);
  for (const { title, query } of charts) {
    const { rows } = await project.analysis.query({ ...query, time_range: { last_seconds: 3_600 } });
    expect([title, rows.length]).not.toEqual([title, 0]);
    // One series of money, or one for each group: the kinds of tokens are not separated.
    if (!title.startsWith('Cost')) continue;
    expect([title, new Set(rows.map(({ metric }) => metric))]).toEqual([title, new Set([null])]);
    const series = rows.map(({ bucket, currency, group }) => JSON.stringify([bucket, currency, group]));
    expect(new Set(series).size).toBe(rows.length);
  }
});

it('prints lines that work pasted together', async () => {
  const demo = await startService({ args: ['demo'] });
  try {
    await waitFor(async () => demo.output.includes('Stop with Ctrl-C.'), {
      timeoutMs: 180_000,
      what: 'the welcome',
    });
    // Commands are indented and begin with `EVENT=` or `curl`; the lines behind a command that are indented more belong
    // to it.
    const commands = demo.output.match(/^ {2}(EVENT=|curl ).*(\n {4}\S.*)*/gm) ?? [];
    expect(commands.length).toBe(5);
    const { stdout } = await promisify(execFile)('bash', ['-ec', commands.join('\n')]);
    // One answer on each line, then the table.
    const [id = '', event = '', pricing = '', limits = '', ...costs] = stdout.split('\n');
    expect(id).toMatch(/^evt_[0-9a-f]+$/);
    expect(JSON.parse(event)).toMatchObject({ raw_event_id: id, status: 'processed' });
    expect(JSON.parse(pricing)).toHaveProperty('pricing_rule_sets');
    expect(JSON.parse(limits)).toMatchObject({ subject_id: 'cust_me' });
    expect(costs.join('\n')).toContain('gpt-5');
  } finally {
    await demo.stop();
  }
});
