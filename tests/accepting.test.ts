import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGuide } from '../packages/service/src/testing/guide.js';
import {
  AcceptingService,
  CONNECTIONS,
  eventOf,
  ingestPath,
  PROCESSES,
  sendEvent,
} from './support/accepting.js';
import { Connection } from './support/connections.js';
import { call } from './support/http.js';
import { nicenessOfThreads } from './support/process-tree.js';
import { createSampleProject } from './support/sample-project.js';
import type { RunningService } from './support/service.js';

let accepting: AcceptingService;
let service: RunningService;
beforeAll(async () => {
  accepting = await AcceptingService.start();
  service = accepting.service;
});
afterAll(() => service?.stop());

/** Returns the beginning that all ids of requests have which a process makes. */
const prefixOf = (requestId: unknown) => String(requestId).split('.')[0] ?? '';

describe('accepting processes', () => {
  it('share out the connections, and each event counts once', async () => {
    const project = await createSampleProject(service);
    const main = prefixOf((await new Connection(service).send('GET', '/healthz')).headers['x-request-id']);
    const before = await accepting.acceptedByMetrics();
    const prefixes = new Set<string>();
    await accepting.onConnections(async (connection, index) => {
      for (let count = 0; count < 25; count += 1) {
        const { status, headers } = await sendEvent(connection, project, `e-${index}-${count}`);
        expect(status).toBe(202);
        prefixes.add(prefixOf(headers['x-request-id']));
      }
    });
    expect(prefixes.size).toBe(PROCESSES);
    expect(prefixes).not.toContain(main);
    expect(await accepting.acceptedByMetrics()).toBe(before + CONNECTIONS * 25);
    expect(await accepting.rated(project)).toBe(CONNECTIONS * 25);
  });

  it('give back a connection whose request is not theirs, with all of its bytes', async () => {
    const project = await createSampleProject(service);
    const { key } = project;
    const prompt = 'p'.repeat(20_000);
    await accepting.onConnections(async (connection, index) => {
      const accepted = await sendEvent(connection, project, `one-${index}`);
      expect(accepted.status).toBe(202);
      const events = Array.from({ length: 100 }, (_, count) => ({
        extractor_rule_set_id: project.ruleSetId,
        ...eventOf(`many-${index}-${count}`, prompt),
      }));
      const body = { source: 'test', events };
      const inChunks = await connection.send(
        'POST',
        `/v1/projects/${project.projectId}/events/batch-ingest`,
        { key, body, isChunked: true },
      );
      expect([inChunks.status, JSON.parse(inChunks.text).count]).toEqual([202, 100]);
      const processes = [accepted, inChunks].map(({ headers }) => prefixOf(headers['x-request-id']));
      expect(new Set(processes).size).toBe(2);
    });
    expect(await accepting.rated(project)).toBe(CONNECTIONS * 101);
  });

  it.runIf(process.platform === 'linux')('let their main threads go before all others', () => {
    const processes = accepting.processes();
    expect(processes).toHaveLength(PROCESSES);
    for (const { pid } of processes) {
      const threads = nicenessOfThreads(pid);
      const main = threads.get(pid);
      threads.delete(pid);
      expect(main).toBe(getPriority());
      expect(threads.size).toBeGreaterThan(4);
      expect([...threads.values()].filter((nice) => nice === getPriority())).toEqual([]);
    }
  });

  it('change no other response', async () => {
    const project = await createSampleProject(service);
    const { key } = project;
    const asked = async (method: string, path: string, options: Parameters<Connection['send']>[2] = {}) => {
      const connection = new Connection(service);
      await sendEvent(connection, project, 'again');
      const { status, headers, text } = await connection.send(method, path, options);
      connection.close();
      return { status, headers, body: text.startsWith('{') ? JSON.parse(text) : text };
    };
    expect(await asked('GET', '/v1/me', { key })).toMatchObject({ status: 200, body: { kind: 'key' } });
    expect(await asked('GET', '/nowhere')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await asked('PUT', ingestPath(project), { key })).toMatchObject({
      status: 405,
      headers: { allow: 'POST, OPTIONS' },
    });
    const unauthenticated = { status: 401, body: { code: 'unauthenticated' } };
    expect(await asked('POST', ingestPath(project), { key: 'tg_no', body: {} })).toMatchObject(
      unauthenticated,
    );
    expect(await asked('POST', ingestPath(project), { key, body: { source: 1 } })).toMatchObject({
      status: 400,
    });
    const headers = { 'x-request-id': 'mine' };
    expect(await asked('GET', '/readyz', { headers })).toMatchObject({ status: 200, headers });
    const signedIn = await asked('POST', '/api/session', {
      headers: { origin: service.url },
      body: { api_key: key },
    });
    expect(signedIn.status).toBe(201);
    const cookie = String(signedIn.headers['set-cookie']?.[0]).split(';')[0] as string;
    expect(await asked('GET', '/api/v1/me', { headers: { cookie } })).toMatchObject({ status: 200 });
  });

  it('leave streams to the main process', async () => {
    const project = await createSampleProject(service);
    const search = new URLSearchParams({
      query: JSON.stringify({
        metrics: ['llm.input_tokens'],
        time_range: { last_seconds: 3_600 },
        bucket_size: '1h',
      }),
    });
    const leave = new AbortController();
    const response = await fetch(
      `${service.url}/v1/projects/${project.projectId}/analysis/stream?${search}`,
      {
        headers: { authorization: `Bearer ${project.key}` },
        signal: leave.signal,
      },
    );
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('event: ready');
    await sendEvent(new Connection(service), project, 'followed');
    expect((await reader?.read())?.value).toContain('event: buckets');
    leave.abort();
  });

  it('take as many events as a quota allows', async () => {
    const quota = 300;
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-accepting-'));
    const [example = ''] = readGuide('plans').blocks('json');
    const catalog = JSON.parse(example) as { plans: { id: string; monthly_event_limit: number }[] };
    for (const plan of catalog.plans) plan.monthly_event_limit = quota;
    const file = join(folder, 'plans.json');
    writeFileSync(file, JSON.stringify(catalog));
    expect((await service.runCommand(['catalog', 'apply', file])).exitCode).toBe(0);
    rmSync(folder, { recursive: true });
    const project = await createSampleProject(service, {
      kind: 'release',
      onTenant: async (tenantId) => {
        const options = { key: service.serviceKey, body: { plan_id: 'starter' }, idempotencyKey: tenantId };
        const granted = await call(service, 'POST', `/admin/v1/tenants/${tenantId}/grants`, options);
        expect(granted.status, granted.text).toBe(201);
      },
    });
    const statuses = await accepting.onConnections(async (connection, index) => {
      const own: number[] = [];
      for (let count = 0; count < 40; count += 1) {
        own.push((await sendEvent(connection, project, `q-${index}-${count}`)).status);
      }
      return own;
    });
    const all = statuses.flat();
    expect(all.filter((status) => status === 202)).toHaveLength(quota);
    expect(all.filter((status) => status === 429)).toHaveLength(CONNECTIONS * 40 - quota);
    expect(await accepting.rated(project)).toBe(quota);
  });
});
