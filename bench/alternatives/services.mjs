// The services that alternatives.mjs compares, each with the requests that mean the same to it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStores } from '../embedded-stores.mjs';
import { PLAN_RULES } from '../limits.mjs';
import { startFloor, stopFloor, usageOf } from '../processes.mjs';

export const HOT_SUBJECT = 'hot';
const TABLES = `
  create table budgets (subject text primary key, used numeric not null, reserved numeric not null, max numeric not null)
    with (fillfactor = 50);
  create table leases (id uuid primary key, subject text not null, amount numeric not null, expires_at timestamptz not null)`;

/**
 * Tollgate with a plan of five limits for every subject, one of which a check asks, and a hot subject at the lowest of
 * `levels` levels, each with one limit.
 */
export async function tollgate(service, subjects, levels) {
  const [project] = await service.createProjects(1);
  const url = `/v1/projects/${project.id}`;
  const { id: planId } = await service.ask('POST', `${url}/usage-limit-plans`, {
    name: 'bench',
    title: 'Benchmark',
    rules: PLAN_RULES,
  });
  await service.ask('POST', `${url}/usage-limit-plans/${planId}/publish`);
  const every = { subject_type: 'user', subject_id: '*', usage_limit_plan_id: planId };
  await service.ask('POST', `${url}/subject-routes`, every);
  let parent;
  for (let level = levels - 1; level > 0; level -= 1) {
    const above = { subject_type: 'group', subject_id: `level-${level}` };
    await routeWithLimit(service, url, { ...above, ...(parent && { parent }) });
    parent = above;
  }
  const hot = { subject_type: 'user', subject_id: HOT_SUBJECT };
  await routeWithLimit(service, url, { ...hot, ...(parent && { parent }) });
  const usage = { amount: '1', currency: 'USD' };
  return {
    name: 'Tollgate',
    project,
    address: service.address,
    apiKey: service.serviceKey,
    checks: subjects.map((id) => ({
      method: 'POST',
      path: `${url}/subject/realtime/check`,
      body: { subject_type: 'user', subject_id: id, metric: 'llm.input_tokens', ...usage },
    })),
    lease: { method: 'POST', path: `${url}/budget-leases`, body: { ...hot, ...usage, ttl_seconds: 600 } },
    cpuSeconds: () => cpuOf(service.pid),
    stop: async () => {},
  };
}

async function routeWithLimit(service, url, route) {
  const { id } = await service.ask('POST', `${url}/subject-routes`, route);
  await service.ask('POST', `${url}/subject-routes/${id}/limits`, {
    limit_key: 'hot',
    measure: 'amount',
    selector_type: 'all',
    currency: 'USD',
    period: 'lifetime',
    limit_amount: '1000000000',
    action: 'block',
  });
}

/** @returns undefined where Redis is asked for and is not installed */
export async function homeMade(subjects, { withRedis }) {
  const redis = withRedis ? await startRedis() : undefined;
  if (withRedis && redis === undefined) return undefined;
  const stores = await openEmbeddedStores({ poolMax: 2, withClickHouse: false });
  await stores.postgres.pool.query(TABLES);
  const { child, ready } = await startFloor('alternatives/home-made.mjs', {
    connection: stores.connection,
    redisPort: redis?.port,
    subjects: [...subjects, HOT_SUBJECT],
  });
  const body = (id) => ({ subject_id: id, amount: '1', ttl_seconds: 600 });
  return {
    name: withRedis ? 'PostgreSQL and Redis' : 'PostgreSQL',
    address: { host: '127.0.0.1', port: ready.port },
    checks: subjects.map((id) => ({ method: 'POST', path: '/check', body: body(id) })),
    lease: { method: 'POST', path: '/leases', body: body(HOT_SUBJECT) },
    // The servers of all databases are below this process, which runs no load itself.
    cpuSeconds: () =>
      cpuOf(child.pid) + cpuOf(stores.serverPid) + (redis === undefined ? 0 : cpuOf(redis.pid)),
    async stop() {
      await stopFloor(child);
      await stores.close();
      redis?.stop();
    },
  };
}

function cpuOf(pid) {
  const { service, postgres } = usageOf(pid);
  return service.cpuSeconds + postgres.cpuSeconds;
}

/** Redis with its log of changes, flushed each second, as it is usually run. */
async function startRedis() {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-redis-'));
  const port = await freePort();
  const settings = [
    '--port',
    port,
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--save',
    '',
  ];
  const child = spawn('redis-server', settings.map(String), { stdio: 'ignore' });
  const stop = () => {
    child.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, pid: child.pid, stop };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
