import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
  waitFor,
} from '../packages/service/src/testing/index.js';
import { type Answer, call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

/** `TOLLGATE_LEASES=many npm test -- tests/budget-leases.test.ts` is the long version. */
const IS_LONG = process.env.TOLLGATE_LEASES === 'many';
const LIMIT = IS_LONG ? 10_000 : 500;
const REQUESTS = IS_LONG ? 64_000 : 2_000;
const MIXED_REQUESTS = IS_LONG ? 20_000 : 800;
const CLIENTS = 64;
const TEST_TIMEOUT_MS = IS_LONG ? 1_800_000 : 240_000;
const KILLS = IS_LONG ? 20 : 4;
const LOOKS_PER_KILL = 5;
/** One of so many lease requests is too large, one is invalid, and one names no lease. */
const REFUSED_EVERY = 10;
const SETTLE_TIMEOUT_MS = 120_000;
/** Tokens that cost 1 USD, at 0.0000025 USD each. Every event uses this many. */
const TOKENS_PER_USD = 400_000;

let postgres: TestPostgres;
let clickhouse: TestClickHouse;
let nodes: RunningService[];
let worker: RunningService;
/** Services that are being killed and started again. */
const down = new Set<RunningService>();
let sample: SampleProject;
let project: string;

beforeAll(async () => {
  postgres = await createTestPostgres();
  clickhouse = await createTestClickHouse();
  const env = { TOLLGATE_DATABASE_URL: postgres.connectionString, TOLLGATE_CLICKHOUSE_URL: clickhouse.url };
  const start = (roles: string) =>
    startService({ args: ['serve', '--roles', roles], env, startsEmpty: true });
  // The first one migrates, the others find it done.
  nodes = [await start('api')];
  nodes.push(await start('api'));
  worker = await start('worker');
  sample = await createSampleProject(nodes[0] as RunningService);
  project = `/v1/projects/${sample.projectId}`;
});

afterAll(async () => {
  for (const service of [...(nodes ?? []), worker]) await service?.stop();
  await clickhouse?.drop();
  await postgres?.drop();
});

/** Undefined when the connection broke: that is what a kill looks like from outside. */
async function ask(
  node: RunningService,
  method: string,
  path: string,
  body?: object,
): Promise<Answer | undefined> {
  try {
    return await call(node, method, project + path, {
      key: sample.key,
      ...(body === undefined ? {} : { body }),
    });
  } catch {
    return undefined;
  }
}

/** A subject with one limit over its lifetime, and a prepaid wallet that could pay all of it. */
async function makeSubject(subjectId: string): Promise<void> {
  const [node] = nodes as [RunningService];
  const options = (body: object) => ({ key: sample.key, body });
  const route = await created(
    node,
    `${project}/subject-routes`,
    options({ subject_type: 'customer', subject_id: subjectId }),
  );
  await created(
    node,
    `${project}/subject-routes/${route.id}/limits`,
    options({
      limit_key: 'budget',
      measure: 'amount',
      selector_type: 'all',
      currency: 'USD',
      period: 'lifetime',
      limit_amount: String(LIMIT),
      action: 'block',
    }),
  );
  const wallet = `${project}/accounts/${route.account_id}/wallets/USD`;
  expect((await call(node, 'PUT', wallet, options({ mode: 'prepaid' }))).status).toBe(200);
  await created(node, `${wallet}/adjustments`, options({ amount: String(LIMIT * 10), reason: 'test' }));
}

const leaseOf = (subjectId: string, ttlSeconds: number) => ({
  subject_type: 'customer',
  subject_id: subjectId,
  amount: '1',
  currency: 'USD',
  ttl_seconds: ttlSeconds,
});

/** Reads the held amounts of leases, limit and wallet at one moment, and the usage. */
async function look(subjectId: string) {
  const { rows } = await postgres.postgres.pool.query(
    `select
      (select coalesce(sum(held), 0) from budget_leases where subject_id = $1)::float as "byLeases",
      (select coalesce(sum(reserved), 0) from limit_reserved where subject_id = $1)::float as "byLimit",
      (select coalesce(sum(w.reserved), 0) from wallets w join subject_routes r using (project_id, account_id)
        where r.subject_id = $1)::float as "byWallet",
      (select coalesce(sum(used), 0) from limit_windows where subject_id = $1)::float as used`,
    [subjectId],
  );
  return rows[0] as { byLeases: number; byLimit: number; byWallet: number; used: number };
}

async function expectKept(subjectId: string): Promise<void> {
  const { byLeases, byLimit, byWallet, used } = await look(subjectId);
  expect([byLimit, byWallet]).toEqual([byLeases, byLeases]);
  expect(used + byLimit).toBeLessThanOrEqual(LIMIT);
}

/**
 * Many clients at once, each with its node or, while that is down, with the one that never is, until `next`
 * has no more for them.
 */
async function manyClients(next: () => ((node: RunningService) => Promise<void>) | undefined): Promise<void> {
  const client = async (node: RunningService) => {
    for (let work = next(); work !== undefined; work = next()) {
      await work(down.has(node) ? (nodes[0] as RunningService) : node);
    }
  };
  await Promise.all(
    Array.from({ length: CLIENTS }, (_, index) => client(nodes[index % nodes.length] as RunningService)),
  );
}

describe(`leases of one limit of ${LIMIT}, by ${CLIENTS} clients over two nodes`, {
  timeout: TEST_TIMEOUT_MS,
}, () => {
  it(`are granted exactly ${LIMIT} times out of ${REQUESTS}, whatever is asked between them`, async () => {
    await makeSubject('exact');
    const larger = { ...leaseOf('exact', 86_400), amount: String(LIMIT + 1) };
    const absent = `/budget-leases/bl_${'0'.repeat(32)}/close`;
    const statuses = new Map<string, number>();
    let sent = 0;
    await manyClients(() => {
      if (sent >= REQUESTS) return undefined;
      sent += 1;
      const turn = sent;
      return async (node) => {
        if (turn % REFUSED_EVERY === 0) {
          expect((await ask(node, 'POST', '/budget-leases', larger))?.body.code).toBe('limit_exceeded');
          expect((await ask(node, 'POST', absent))?.status).toBe(404);
          const invalid = { ...leaseOf('exact', 86_400), amount: '0' };
          expect((await ask(node, 'POST', '/budget-leases', invalid))?.status).toBe(400);
        }
        const answer = await ask(node, 'POST', '/budget-leases', leaseOf('exact', 86_400));
        const outcome = `${answer?.status} ${answer?.body.code ?? answer?.body.status}`;
        statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
      };
    });
    expect(Object.fromEntries(statuses)).toEqual({
      '201 active': LIMIT,
      '409 limit_exceeded': REQUESTS - LIMIT,
    });
    expect(await look('exact')).toEqual({ byLeases: LIMIT, byLimit: LIMIT, byWallet: LIMIT, used: 0 });
  });

  it('never pass it, whatever is closed, expires, is used or killed meanwhile', async () => {
    await makeSubject('mixed');
    let sent = 0;
    let spent = 0;
    const closable: string[] = [];
    const step = async (node: RunningService, turn: number) => {
      // Some leases are closed, some expire, and some are used up by an event; the test leaves those alone.
      const kind = turn % 3;
      const answer = await ask(node, 'POST', '/budget-leases', leaseOf('mixed', kind === 1 ? 1 : 600));
      if (kind === 0) {
        if (answer?.status === 201) closable.push(answer.body.id);
        const id = closable.length > turn % 7 ? closable.shift() : undefined;
        if (id !== undefined) await ask(node, 'POST', `/budget-leases/${id}/close`);
      } else if (kind === 2 && answer?.status === 201 && (await spend(node, answer.body.id))) spent += 1;
    };
    const load = manyClients(() => {
      if (sent >= MIXED_REQUESTS) return undefined;
      sent += 1;
      const turn = sent;
      return (node) => step(node, turn);
    });
    const killed = killInTurn('mixed', () => sent >= MIXED_REQUESTS);
    await Promise.all([load, killed]);
    await waitFor(async () => (await look('mixed')).used >= spent, {
      timeoutMs: SETTLE_TIMEOUT_MS,
      what: 'used',
    });
    await expectKept('mixed');
    expect((await look('mixed')).used).toBeGreaterThan(0);
  });

  it('leave nothing behind once all have ended', async () => {
    const { rows } = await postgres.postgres.pool.query(
      "select id from budget_leases where status = 'active' and expires_at > extract(epoch from now()) + 60",
    );
    const ids = rows.map(({ id }) => id as string);
    await manyClients(() => {
      const id = ids.pop();
      return id === undefined
        ? undefined
        : async (node) => {
            expect((await ask(node, 'POST', `/budget-leases/${id}/close`))?.status).toBe(200);
          };
    });
    const isEmpty = async (subjectId: string) => {
      const { byLeases, byLimit, byWallet } = await look(subjectId);
      return byLeases === 0 && byLimit === 0 && byWallet === 0;
    };
    await waitFor(async () => (await isEmpty('exact')) && (await isEmpty('mixed')), {
      timeoutMs: SETTLE_TIMEOUT_MS,
    });
  });
});

/** Whether an event that costs as much as a lease holds was accepted. */
async function spend(node: RunningService, leaseId: string): Promise<boolean> {
  const answer = await ask(node, 'POST', `/extractor-rule-sets/${sample.ruleSetId}/events/ingest`, {
    source: 'test',
    idempotency_key: leaseId,
    occurred_at: Math.floor(Date.now() / 1_000),
    raw_json: { customer: 'mixed', model: 'm', usage: { input_tokens: TOKENS_PER_USD, output_tokens: 0 } },
    'x-usage-control': { budget_lease_id: leaseId },
  });
  return answer?.status === 202;
}

/** Kills and restarts the nodes and the worker in turn while the load lasts, and looks in between. */
async function killInTurn(subjectId: string, isOver: () => boolean): Promise<void> {
  const targets = [nodes[1], worker] as [RunningService, RunningService];
  for (let kill = 0; kill < KILLS; kill += 1) {
    for (let count = 0; count < LOOKS_PER_KILL; count += 1) await expectKept(subjectId);
    const target = targets[kill % targets.length] as RunningService;
    down.add(target);
    await target.crash('service');
    await expectKept(subjectId);
    await target.start();
    down.delete(target);
  }
  while (!isOver()) await expectKept(subjectId);
}
