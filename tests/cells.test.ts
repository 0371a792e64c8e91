import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres, waitFor } from '../packages/service/src/testing/index.js';
import { call } from './support/http.js';
import { createSampleProject, INPUT_PRICE, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

let directory: TestPostgres;
/** Two whole installations on embedded stores, each in a process of its own. */
let one: RunningService;
let two: RunningService;
/** A project that the first installation had before it became a cell. */
let oldProject: SampleProject;
/** A project of the second cell, created through the first. */
let newProject: SampleProject;
let settings: Record<string, string>;

const OCCURRED_AT = Math.floor(Date.now() / 1000) - 600;
const EVENTS = 40;

beforeAll(async () => {
  directory = await createTestPostgres({ isEmpty: true });
  settings = { TOLLGATE_DIRECTORY_URL: directory.connectionString };
  [one, two] = await Promise.all([startService(), startService()]);
  oldProject = await createSampleProject(one);
});
afterAll(async () => {
  await Promise.all([one?.stop(), two?.stop()]);
  await directory?.drop();
});

function cell(...args: string[]) {
  return one.runCommand(['cell', ...args], settings);
}

function event(project: SampleProject, number: number) {
  return {
    extractor_rule_set_id: project.ruleSetId,
    idempotency_key: `event ${number}`,
    occurred_at: OCCURRED_AT,
    raw_json: { customer: 'c1', model: 'm', usage: { input_tokens: 1_000, output_tokens: 0 } },
  };
}

/** Sends one event after another on one connection, as an agent does. */
async function sendSingly(to: RunningService, project: SampleProject, from: number): Promise<void> {
  for (let number = from; number < from + EVENTS; number += 1) {
    const path = `/v1/projects/${project.projectId}/extractor-rule-sets/${project.ruleSetId}/events/ingest`;
    const { extractor_rule_set_id: _, ...fields } = event(project, number);
    const body = { source: 'test', ...fields };
    const answer = await call(to, 'POST', path, { key: project.key, body });
    expect([answer.status, answer.text]).toEqual([202, answer.text]);
  }
}

async function sendBatch(to: RunningService, project: SampleProject, from: number): Promise<void> {
  const events = Array.from({ length: EVENTS }, (_, index) => event(project, from + index));
  const path = `/v1/projects/${project.projectId}/events/batch-ingest`;
  const answer = await call(to, 'POST', path, { key: project.key, body: { source: 'test', events } });
  expect([answer.status, answer.text]).toEqual([202, answer.text]);
}

/** Returns the amount of a project in the history, once it has this many events. */
async function amountOf(at: RunningService, project: SampleProject, events: number): Promise<string> {
  const path = `/v1/projects/${project.projectId}`;
  await waitFor(async () => {
    const status = await call(at, 'GET', `${path}/usage/ingest-status`, { key: project.key });
    return status.body.processed === events && status.body.pending === 0;
  });
  const query = {
    metrics: ['llm.input_tokens'],
    time_range: { from: OCCURRED_AT, to: OCCURRED_AT + 1 },
    bucket_size: 'none',
  };
  let amount = '';
  await waitFor(async () => {
    const answer = await call(at, 'POST', `${path}/analysis/query`, { key: project.key, body: query });
    const [row] = answer.body.rows;
    amount = row?.amount;
    return row?.quantity === String(events * 1_000);
  });
  return amount;
}

describe('tollgate cell', () => {
  it('adds an installation with data as number 0, and an empty one as the next', async () => {
    const first = await cell('add', 'eu-1', '--url', one.url);
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(first.stdout).toBe(
      `Cell "eu-1" is in the directory: number 0, ${one.url}, meant for 50,000 events/s.\n` +
        'Restart its processes with TOLLGATE_DIRECTORY_URL and TOLLGATE_CELL=eu-1.\n',
    );
    const second = await cell('add', 'eu-2', '--url', two.url, '--capacity', '20000');
    expect(second.stdout).toContain(`number 1, ${two.url}, meant for 20,000 events/s.`);
  });

  it.each<[string, () => string[], RegExp]>([
    ['no URL', () => ['add', 'eu-3'], /needs --url/],
    ['a bad name', () => ['add', 'EU', '--url', one.url], /NAME must be 1 to 40 lower-case letters/],
    ['a bad number', () => ['add', 'eu-3', '--url', one.url, '--number', '128'], /--number must be .*0.*127/],
    ['a bad capacity', () => ['add', 'eu-3', '--url', one.url, '--capacity', '0'], /--capacity must be .*1/],
    ['a URL that does not respond', () => ['add', 'eu-3', '--url', 'http://127.0.0.1:9'], /does not respond/],
    [
      'a number with data',
      () => ['add', 'eu-3', '--url', one.url, '--number', '5'],
      /can only be cell number 0/,
    ],
    [
      'a taken number',
      () => ['add', 'eu-3', '--url', two.url, '--number', '0'],
      /Number 0 belongs to another cell/,
    ],
    [
      'a second cell with data',
      () => ['add', 'eu-3', '--url', one.url],
      /needs number 0, which another cell has/,
    ],
    [
      'a different number for a cell',
      () => ['add', 'eu-2', '--url', two.url, '--number', '7'],
      /has a different number/,
    ],
    ['an unknown cell', () => ['drain', 'eu-9'], /has no cell "eu-9"/],
  ])('refuses %s with one sentence', async (_what, args, sentence) => {
    const refused = await cell(...args());
    expect([refused.exitCode, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(/^tollgate: [^\n]+\.\n$/);
    expect(refused.stderr).toMatch(sentence);
  });

  it('refuses another service key', async () => {
    const env = { ...settings, TOLLGATE_SERVICE_KEY: 'another-service-key-01234' };
    const refused = await one.runCommand(['cell', 'add', 'eu-2', '--url', two.url], env);
    expect(refused.stderr).toContain('has another service key');
  });

  it('says when the directory is not reachable, or not set', async () => {
    const away = { TOLLGATE_DIRECTORY_URL: 'postgresql://nobody@127.0.0.1:9/none' };
    expect((await one.runCommand(['cell', 'list'], away)).stderr).toMatch(/^tollgate: [^\n]+\.\n$/);
    expect((await one.runCommand(['cell', 'list'])).stderr).toContain('Set TOLLGATE_DIRECTORY_URL');
  });

  it('prints the cells', async () => {
    const lines = (await cell('list')).stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.trim().split(/\s+/))).toEqual([
      ['CELL', 'NUMBER', 'STATUS', 'TENANTS', 'MOVING', 'EVENTS/S', 'LOAD', 'REPORTED', 'URL'],
      ['eu-1', '0', 'active', '0', '0', '-', '-', 'never', one.url],
      ['eu-2', '1', 'active', '0', '0', '-', '-', 'never', two.url],
    ]);
  });
});

describe('two cells', () => {
  beforeAll(async () => {
    await Promise.all([one.terminate(), two.terminate()]);
    await one.start({ ...settings, TOLLGATE_CELL: 'eu-1' });
    await two.start({ ...settings, TOLLGATE_CELL: 'eu-2' });
    newProject = await createSampleProject(one);
  });

  it('put a new tenant into the emptier cell, whichever cell gets the request', async () => {
    const { rows } = await directory.postgres.pool.query('select tenant_id, cell from tenants order by cell');
    expect(rows).toEqual([
      { tenant_id: oldProject.tenantId, cell: 'eu-1' },
      { tenant_id: newProject.tenantId, cell: 'eu-2' },
    ]);
    expect((await call(one, 'GET', '/admin/v1/cell', { key: one.serviceKey })).body).toMatchObject({
      name: 'eu-1',
      numbers_used: true,
    });
  });

  it('take events of all tenants, one by one and in batches, and show the same history', async () => {
    await Promise.all([
      sendSingly(one, newProject, 0),
      sendSingly(two, newProject, EVENTS),
      sendBatch(one, newProject, 2 * EVENTS),
      sendSingly(two, oldProject, 0),
      sendBatch(two, oldProject, EVENTS),
    ]);
    // Repeated through the other cell, events count once.
    await sendBatch(two, newProject, 2 * EVENTS);
    const cents = Number(INPUT_PRICE) * 1_000;
    for (const at of [one, two]) {
      expect(Number(await amountOf(at, newProject, 3 * EVENTS))).toBeCloseTo(3 * EVENTS * cents, 9);
      expect(Number(await amountOf(at, oldProject, 2 * EVENTS))).toBeCloseTo(2 * EVENTS * cents, 9);
    }
  });

  it('forward exports as they come', async () => {
    const path = `/v1/projects/${newProject.projectId}/usage/events/export?from=${OCCURRED_AT}&to=${OCCURRED_AT + 1}`;
    const headers = { authorization: `Bearer ${newProject.key}` };
    const [here, there] = await Promise.all([two, one].map((at) => fetch(at.url + path, { headers })));
    expect([here?.status, there?.status]).toEqual([200, 200]);
    const text = await here?.text();
    expect(text?.trim().split('\n').length).toBeGreaterThan(3 * EVENTS - 1);
    expect(await there?.text()).toBe(text);
  });

  it('serve their own tenants while the directory is unavailable', async () => {
    await directory.beside('alter table addresses rename to addresses_away');
    try {
      expect((await call(one, 'GET', '/v1/me', { key: oldProject.key })).status).toBe(200);
      await sendSingly(one, oldProject, 1_000);
    } finally {
      await directory.beside('alter table addresses_away rename to addresses');
    }
  });

  it('each have equal data in both stores', async () => {
    for (const service of [one, two]) {
      const report = await call(service, 'POST', '/admin/v1/verify', { key: service.serviceKey });
      expect(report.body).toMatchObject({ status: 'equal', difference_count: 0 });
    }
  });

  it('get no new tenants while they drain, and their tenants are listed', async () => {
    const drained = await cell('drain', 'eu-2');
    expect(drained).toMatchObject({ exitCode: 0, stderr: '' });
    expect(drained.stdout).toContain(newProject.tenantId);
    const made = await call(two, 'POST', '/admin/v1/tenants', { key: two.serviceKey, body: { name: 'New' } });
    const { rows } = await directory.postgres.pool.query('select cell from tenants where tenant_id = $1', [
      made.body.id,
    ]);
    expect(rows).toEqual([{ cell: 'eu-1' }]);
    expect((await cell('list')).stdout).toContain('draining');
  });

  it('refuse to start as an unknown cell, or with only one of the two settings', async () => {
    await two.terminate();
    await expect(two.start({ ...settings, TOLLGATE_CELL: 'eu-9' })).rejects.toThrow(
      'tollgate cell add eu-9 --url URL',
    );
    await expect(two.start({ TOLLGATE_CELL: 'eu-2' })).rejects.toThrow('belong together');
  });
});
