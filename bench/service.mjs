// The real service in its own process on an empty data directory, and what a benchmark asks of it.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RULE_SET } from './events.mjs';
import { PLAN_RULES } from './limits.mjs';

const PROGRAM = fileURLToPath(new URL('../packages/service/dist/bundle/cli.js', import.meta.url));
const HOST = '127.0.0.1';
const SERVICE_KEY = 'benchmark-service-key-0123456789';
const READY_TIMEOUT_MS = 120_000;
/** Small enough to be reached within a phase, so that the refusal can be seen. */
export const BACKLOG_EVENTS_MAX = 400_000;

export class BenchService {
  /** With `descriptorsMax`, under a limit of so many file descriptors; `settings` are environment variables. */
  static async start({ descriptorsMax, settings = {} } = {}) {
    const service = new BenchService();
    service.descriptorsMax = descriptorsMax;
    service.settings = settings;
    service.dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-service-'));
    // PostgreSQL's account must be able to pass through when this runs as root.
    chmodSync(service.dataDir, 0o711);
    service.port = await freePort();
    // However this process ends, the service ends too.
    process.once('exit', () => service.child.kill('SIGTERM'));
    await service.launch();
    return service;
  }

  /** Starts the program on the data that is there, and waits until it is ready. */
  async launch() {
    this.child = this.spawn(['serve']);
    const startMs = performance.now();
    while (!(await this.isReady())) {
      if (this.child.exitCode !== null) throw new Error('the service ended before it was ready');
      if (performance.now() - startMs > READY_TIMEOUT_MS) throw new Error('the service did not get ready');
      await delay(50);
    }
  }

  /** Ends the program by SIGKILL, and starts it again. */
  async crash() {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
    await this.launch();
  }

  /** Runs a command of `tollgate` with the settings of this service; `output` is where it prints. */
  spawn(args, output = 'ignore') {
    const command = [process.execPath, PROGRAM, ...args];
    if (this.descriptorsMax !== undefined) command.unshift('prlimit', `--nofile=${this.descriptorsMax}`);
    return spawn(command[0], command.slice(1), {
      env: {
        ...process.env,
        HOST,
        PORT: String(this.port),
        TOLLGATE_DATA_DIR: this.dataDir,
        TOLLGATE_SERVICE_KEY: SERVICE_KEY,
        TOLLGATE_LOG_LEVEL: 'warn',
        TOLLGATE_DRAIN_SECONDS: '0',
        TOLLGATE_INGEST_BACKLOG_EVENTS_MAX: String(BACKLOG_EVENTS_MAX),
        ...this.settings,
      },
      stdio: ['ignore', output, 'inherit'],
    });
  }

  async isReady() {
    try {
      return (await fetch(`http://${HOST}:${this.port}/readyz`)).ok;
    } catch {
      return false;
    }
  }

  get address() {
    return { host: HOST, port: this.port };
  }

  get serviceKey() {
    return SERVICE_KEY;
  }

  get pid() {
    return this.child.pid;
  }

  /**
   * Sends a request with the service key; a body is an object, or JSON text. Throws for every response that is not a
   * success.
   */
  async ask(method, path, body, key = SERVICE_KEY) {
    const response = await fetch(`http://${HOST}:${this.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  }

  /** Makes a tenant with `count` projects, each with published rules and a key for a usage backend. */
  async createProjects(count) {
    const tenant = await this.ask('POST', '/admin/v1/tenants', { name: 'Benchmark' });
    const admin = `/admin/v1/tenants/${tenant.id}`;
    const projects = [];
    for (let index = 0; index < count; index += 1) {
      const project = await this.ask('POST', `${admin}/projects`, {
        name: `bench ${index}`,
        kind: 'development',
      });
      const ruleSets = `/v1/projects/${project.id}/extractor-rule-sets`;
      const { id: ruleSetId } = await this.ask('POST', ruleSets, RULE_SET);
      await this.ask('POST', `${ruleSets}/${ruleSetId}/publish`);
      const { key: apiKey } = await this.ask('POST', `${admin}/api-keys`, {
        name: 'gateway',
        permissions: ['usage:ingest', 'usage:read', 'analytics:read'],
        project_id: project.id,
      });
      projects.push({ id: project.id, ruleSetId, apiKey });
    }
    return projects;
  }

  /** Routes all subjects of a project to one account, and counts each against five limits. */
  async limitSubjects(projectId) {
    const plans = `/v1/projects/${projectId}/usage-limit-plans`;
    const { id } = await this.ask('POST', plans, { name: 'bench', title: 'Benchmark', rules: PLAN_RULES });
    await this.ask('POST', `${plans}/${id}/publish`);
    await this.ask('POST', `/v1/projects/${projectId}/subject-routes`, {
      subject_type: 'user',
      subject_id: '*',
      usage_limit_plan_id: id,
    });
  }

  /** Counters since the start: events rated (or failed, or dropped as duplicates), and copied to ClickHouse. */
  async counters() {
    const text = await this.ask('GET', '/metrics');
    const sum = (name, labels = '') => {
      const lines = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*${labels}[^}]*\\})? ([\\d.e+-]+)$`, 'gm'));
      return [...lines].reduce((total, [, value]) => total + Number(value), 0);
    };
    return {
      atMs: performance.now(),
      rated: sum('tollgate_pipeline_events_total', 'outcome="processed"'),
      failed: sum('tollgate_pipeline_events_total', 'outcome="failed"'),
      queryable: sum('tollgate_projector_events_total'),
      projectionOldestSeconds: sum('tollgate_projection_oldest_seconds'),
      eventLoopLagP99Ms: sum('nodejs_eventloop_lag_p99_seconds') * 1000,
    };
  }

  /** Recounts both stores against each other; true when they are equal. */
  async verify() {
    const child = this.spawn(['verify']);
    const [code] = await new Promise((resolve) => child.once('exit', (...ended) => resolve(ended)));
    return code === 0;
  }

  /** @returns how long the orderly stop took, and its exit code */
  async stop() {
    if (this.child.exitCode !== null) return undefined;
    const startMs = performance.now();
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    const exitCode = await ended;
    return { exitCode, milliseconds: performance.now() - startMs };
  }

  removeData() {
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, HOST, resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
