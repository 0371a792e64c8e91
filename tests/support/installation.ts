import { expect } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../../packages/service/src/testing/index.js';
import { call } from './http.js';
import { createSampleProject, type SampleProject } from './sample-project.js';
import { newService, type RunningService } from './service.js';

const OCCURRED_AT = Math.floor(Date.now() / 1000) - 600;
const LARGE_PROMPT = 'p'.repeat(1_000);
/** Events of a batch. */
const EVENTS = { large: 100, small: 10 } as const;
type Size = keyof typeof EVENTS;

/** An installation with a process for each role, on stores of its own. */
export class Installation {
  readonly roles: Readonly<Record<'api' | 'worker' | 'projector', RunningService>>;
  readonly postgres: TestPostgres;
  readonly #clickhouse: TestClickHouse;
  #sample: SampleProject | undefined;
  #expected = 0;

  private constructor(postgres: TestPostgres, clickhouse: TestClickHouse, roles: Installation['roles']) {
    this.postgres = postgres;
    this.#clickhouse = clickhouse;
    this.roles = roles;
  }

  static async start(objectStoreUrl: string, credentials: Record<string, string> = {}) {
    const [postgres, clickhouse] = await Promise.all([createTestPostgres(), createTestClickHouse()]);
    const env = {
      TOLLGATE_DATABASE_URL: postgres.connectionString,
      TOLLGATE_CLICKHOUSE_URL: clickhouse.url,
      TOLLGATE_OBJECT_STORE_URL: objectStoreUrl,
      ...credentials,
    };
    const role = (name: string) => newService({ args: ['serve', '--roles', name], env, startsEmpty: true });
    const [api, worker, projector] = await Promise.all([role('api'), role('worker'), role('projector')]);
    const installation = new Installation(postgres, clickhouse, { api, worker, projector });
    // All three at once: only one of them may put the mark.
    const started = await Promise.allSettled([api.start(), worker.start(), projector.start()]);
    const failed = started.find((result) => result.status === 'rejected');
    if (failed !== undefined) {
      await installation.stop();
      throw failed.reason;
    }
    installation.#sample = await createSampleProject(api);
    return installation;
  }

  async stop(): Promise<void> {
    for (const service of Object.values(this.roles)) await service.stop();
    await Promise.all([this.postgres.drop(), this.#clickhouse.drop()]);
  }

  /** Sends a batch that is large enough for an object, or a small one; returns the response. */
  send(name: string, size: Size = 'large') {
    const events = Array.from({ length: EVENTS[size] }, (_, index) => ({
      extractor_rule_set_id: this.#sample?.ruleSetId,
      idempotency_key: `${name}-${index}`,
      occurred_at: OCCURRED_AT,
      raw_json: {
        customer: 'c',
        model: 'm',
        prompt: size === 'large' ? LARGE_PROMPT : '',
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }));
    return call(this.roles.api, 'POST', `${this.#path}/events/batch-ingest`, {
      key: this.#sample?.key ?? '',
      body: { source: 'test', events },
    });
  }

  async accept(name: string, size: Size = 'large'): Promise<void> {
    const answer = await this.send(name, size);
    expect(answer.status, answer.text).toBe(202);
    this.#expected += EVENTS[size];
  }

  /** Expects that every acknowledged event can be queried, and is counted once, and that both stores are equal. */
  async expectAllOnce(): Promise<void> {
    const key = this.#sample?.key ?? '';
    await waitFor(async () => {
      const { body } = await call(this.roles.api, 'GET', `${this.#path}/usage/ingest-status`, { key });
      return body.pending === 0 && body.lag_seconds === 0;
    });
    const { body } = await call(this.roles.api, 'POST', `${this.#path}/analysis/query`, {
      key,
      body: {
        metrics: ['llm.input_tokens'],
        time_range: { from: OCCURRED_AT, to: OCCURRED_AT + 1 },
        bucket_size: 'none',
      },
    });
    expect(body.rows).toMatchObject([{ item_count: this.#expected, quantity: String(this.#expected) }]);
    const { serviceKey } = this.roles.api;
    const report = await call(this.roles.api, 'POST', '/admin/v1/verify', { key: serviceKey });
    expect(report.body).toMatchObject({ status: 'equal', difference_count: 0 });
  }

  async readiness(role: 'api' | 'worker' | 'projector') {
    const { status, body } = await call(this.roles[role], 'GET', '/readyz');
    return { status, objectStore: body.checks.object_store };
  }

  /** Prevents inserts into the table until the returned function is called. */
  async holdInserts(table: 'segments' | 'usage_batches'): Promise<() => Promise<void>> {
    const client = await this.postgres.postgres.pool.connect();
    await client.query(`begin; lock table ${table} in share row exclusive mode`);
    return async () => {
      await client.query('commit');
      client.release();
    };
  }

  get #path(): string {
    return `/v1/projects/${this.#sample?.projectId}`;
  }
}
