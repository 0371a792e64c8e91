import { afterAll, beforeAll, expect, it } from 'vitest';
import { USAGE_FRESH_MS } from '../packages/service/src/modules/limits/index.js';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
} from '../packages/service/src/testing/index.js';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

const CHANGES = 60;
const READERS = 6;
const BALANCE = 1_000;
/** More than the limit and the wallet have, so that an answer names both. */
const TOO_MUCH = '1000000';
/** Tokens that cost 1 USD, at 0.0000025 USD each. */
const TOKENS_PER_USD = 400_000;

let postgres: TestPostgres;
let clickhouse: TestClickHouse;
const running: RunningService[] = [];
let sample: SampleProject;
let project: string;

beforeAll(async () => {
  postgres = await createTestPostgres();
  clickhouse = await createTestClickHouse();
  const env = { TOLLGATE_DATABASE_URL: postgres.connectionString, TOLLGATE_CLICKHOUSE_URL: clickhouse.url };
  for (const roles of ['api', 'api', 'worker']) {
    running.push(await startService({ args: ['serve', '--roles', roles], env, startsEmpty: true }));
  }
  sample = await createSampleProject(running[0] as RunningService);
  project = `/v1/projects/${sample.projectId}`;
});

afterAll(async () => {
  for (const service of running) await service.stop();
  await clickhouse?.drop();
  await postgres?.drop();
});

/** A value that was true from `knownAtMs` on at the latest, and not before `begunAtMs`. */
interface Fact {
  readonly value: number;
  readonly begunAtMs: number;
  readonly knownAtMs: number;
}

/** Values in the order in which they became true. */
class Facts {
  readonly #facts: Fact[] = [
    { value: 0, begunAtMs: Number.NEGATIVE_INFINITY, knownAtMs: Number.NEGATIVE_INFINITY },
  ];

  async add(value: number, change: () => Promise<unknown>): Promise<void> {
    const fact = { value, begunAtMs: performance.now(), knownAtMs: Number.POSITIVE_INFINITY };
    this.#facts.push(fact);
    await change();
    fact.knownAtMs = performance.now();
  }

  /** Adds a value that a look has shown which began then. */
  seen(value: number, begunAtMs: number): void {
    this.#facts.push({ value, begunAtMs, knownAtMs: performance.now() });
  }

  /** Returns the values that an answer may have which is at most `freshMs` older than the time of its request. */
  between(askedMs: number, answeredMs: number, freshMs: number): number[] {
    const oldest = this.#facts.findLastIndex(({ knownAtMs }) => knownAtMs <= askedMs - freshMs);
    return this.#facts
      .slice(oldest)
      .flatMap(({ value, begunAtMs }) => (begunAtMs <= answeredMs ? value : []));
  }
}

const post = async (node: RunningService, path: string, body: object) => {
  const answer = await call(node, 'POST', project + path, { key: sample.key, body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
};

const subject = { subject_type: 'customer', subject_id: 'c1' };

async function makeSubject(node: RunningService): Promise<void> {
  const options = (body: object) => ({ key: sample.key, body });
  const route = await created(node, `${project}/subject-routes`, options(subject));
  const limit = {
    limit_key: 'budget',
    measure: 'amount',
    selector_type: 'all',
    currency: 'USD',
    period: 'lifetime',
    limit_amount: String(BALANCE),
    action: 'block',
  };
  await created(node, `${project}/subject-routes/${route.id}/limits`, options(limit));
  const wallet = `${project}/accounts/${route.account_id}/wallets/USD`;
  expect((await call(node, 'PUT', wallet, options({ mode: 'prepaid' }))).status).toBe(200);
  await created(node, `${wallet}/adjustments`, options({ amount: String(BALANCE), reason: 'test' }));
}

/** Opens and closes leases, one after the other, and records what is reserved. */
async function changeLeases(node: RunningService, reserved: Facts): Promise<void> {
  const open: string[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    const id = change % 3 === 2 ? open.shift() : undefined;
    await reserved.add(open.length + Number(id === undefined), async () => {
      if (id !== undefined) await post(node, `/budget-leases/${id}/close`, {});
      else {
        const lease = { ...subject, amount: '1', currency: 'USD', ttl_seconds: 600 };
        open.push((await post(node, '/budget-leases', lease)).id);
      }
    });
  }
}

/** Sends events of 1 USD each, and records what the database has counted. */
async function useUp(node: RunningService, used: Facts): Promise<void> {
  let counted = 0;
  for (let event = 0; event < CHANGES / 2; event += 1) {
    await post(node, `/extractor-rule-sets/${sample.ruleSetId}/events/ingest`, {
      source: 'test',
      idempotency_key: `e${event}`,
      occurred_at: Math.floor(Date.now() / 1_000),
      raw_json: { customer: 'c1', model: 'm', usage: { input_tokens: TOKENS_PER_USD, output_tokens: 0 } },
    });
    while (counted <= event) {
      const begunAtMs = performance.now();
      const { rows } = await postgres.postgres.pool.query('select used::float from limit_windows');
      const now = Number(rows[0]?.used ?? 0);
      if (now > counted) {
        counted = now;
        used.seen(now, begunAtMs);
      }
    }
  }
}

interface Blocked {
  readonly reserved_amount: string;
  readonly used_amount: string;
}

it('answers of every process are of one moment, which is recent enough', { timeout: 240_000 }, async () => {
  const [own, other] = running as [RunningService, RunningService];
  await makeSubject(own);
  const [reserved, used] = [new Facts(), new Facts()];
  let isOver = false;
  const readAll = async (node: RunningService, leaseFreshMs: number) => {
    while (!isOver) {
      const askedMs = performance.now();
      const body = { ...subject, amount: TOO_MUCH, currency: 'USD' };
      const answer = await post(node, '/subject/realtime/check', body);
      const answeredMs = performance.now();
      const [limit] = answer.blocked_by as [Blocked];
      const [holds, uses] = [Number(limit.reserved_amount), Number(limit.used_amount)];
      expect(Number(answer.blocked_by_wallet.available) + holds + uses).toBe(BALANCE);
      expect(reserved.between(askedMs, answeredMs, leaseFreshMs)).toContain(holds);
      expect(uses).toBeGreaterThanOrEqual(used.between(askedMs, answeredMs, USAGE_FRESH_MS)[0] ?? 0);
    }
  };
  // A process knows at once what it has changed itself.
  const readers = Array.from({ length: READERS }, (_, index) =>
    index % 3 === 0 ? readAll(own, 0) : readAll(other, USAGE_FRESH_MS),
  );
  const changes = Promise.all([changeLeases(own, reserved), useUp(own, used)]).finally(() => {
    isOver = true;
  });
  await Promise.all([changes, ...readers]);
  for (const node of [own, other]) {
    const { text } = await call(node, 'GET', '/metrics');
    const reads = (source: string) =>
      Number(new RegExp(`^tollgate_limit_reads_total\\{source="${source}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
    expect(reads('memory')).toBeGreaterThan(0);
    expect(reads('database')).toBeGreaterThan(0);
  }
});
