import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import {
  alertExpressions,
  DEPLOY,
  dashboardExpressions,
  exportedMetrics,
  metricsIn,
} from './support/deployment-files.js';
import { call } from './support/http.js';
import { commandOf, descendantsOf, nicenessOfThreads } from './support/process-tree.js';
import { type RunningService, startService } from './support/service.js';

let service: RunningService;
beforeAll(async () => {
  service = await startService({ args: ['serve', '--workers', '1'] });
});
afterAll(() => service?.stop());

describe('a service on its embedded stores', () => {
  it.runIf(process.platform === 'linux')(
    'is not ready while the disk of large segments is full',
    async () => {
      const stores = { postgres: 'ok', clickhouse: 'ok', history: 'ok' };
      const checks = { ...stores, queue: 'ok', queue_files: 'ok' };
      let answer = await call(service, 'GET', '/readyz');
      expect(answer).toMatchObject({ status: 200, body: { ready: true, checks } });
      // The service's next probe file is on a full disk; the service deletes it, and the one after is not.
      await waitFor(() => fillDisk(join(service.dataDir, 'segments', 'probe')));
      const isNow = (status: number) => async () => {
        answer = await call(service, 'GET', '/readyz');
        return answer.status === status;
      };
      await waitFor(isNow(503));
      expect(answer.body).toEqual({
        ready: false,
        checks: { ...checks, queue_files: 'failed' },
        problems: { queue_files: 'disk_full' },
      });
      await waitFor(isNow(200));
      expect(answer.body).toEqual({ ready: true, checks });
    },
  );

  it.runIf(process.platform === 'linux')('lets its main thread go before all others', async () => {
    // A query makes ClickHouse start more threads.
    expect((await call(service, 'GET', '/readyz')).status).toBe(200);
    const threads = nicenessOfThreads(service.pid);
    const main = threads.get(service.pid);
    threads.delete(service.pid);
    expect(main).toBe(getPriority());
    expect(threads.size).toBeGreaterThan(10);
    expect([...threads.values()].filter((nice) => nice === getPriority())).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('lets no process of PostgreSQL wait with a lock', () => {
    const servers = descendantsOf(service.pid).filter(({ pid }) => commandOf(pid).includes('postgres'));
    // The first of them, its five helpers, and a server process each for requests and for rating.
    expect(servers.length).toBeGreaterThan(7);
    const yielding = servers.filter(({ pid }) => getPriority(pid) !== getPriority());
    expect(yielding.map(({ pid }) => commandOf(pid))).toEqual([]);
  });

  it('passes the health check of containers, which fails with any other response and without one', () => {
    expect(checkHealth('/healthz')).toMatchObject({ status: 0, stdout: '{"status":"ok"}\n' });
    expect(checkHealth('/missing')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('not_found'),
    });
    expect(checkHealth('/healthz', 1)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cannot be read'),
    });
  });

  it('exports every metric that the alert rules and the dashboard read', async () => {
    const exported = exportedMetrics((await call(service, 'GET', '/metrics')).text);
    const read = new Set([...alertExpressions(), ...dashboardExpressions()].flatMap(metricsIn));
    expect(read.size).toBeGreaterThan(30);
    // A service has it with an object store; tests/object-store.test.ts reads it.
    const ofObjectStore = 'tollgate_object_store_failures_total';
    expect([...read].filter((name) => !exported.has(name))).toEqual([ofObjectStore]);
  });
});

/** Runs the health check of containers. */
function checkHealth(path: string, port = service.port) {
  const program = join(DEPLOY, 'check-health.mjs');
  const env = { ...process.env, PORT: String(port) };
  return spawnSync(process.execPath, [program, path], { env, encoding: 'utf8' });
}

/** Makes the next probe file one on a full disk. Returns false while a probe is under way, whose file is there. */
function fillDisk(probeFile: string): boolean {
  try {
    symlinkSync('/dev/full', probeFile);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
