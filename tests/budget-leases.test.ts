import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/index.js';
import { isLongLeaseTest, LeaseNodes, oneDollarLease } from './support/lease-nodes.js';
import type { RunningService } from './support/service.js';

const LIMIT = isLongLeaseTest ? 10_000 : 500;
/** Twice as many as are granted: clients on both nodes ask long after the last one. */
const REQUESTS = isLongLeaseTest ? 64_000 : 2 * LIMIT;
const MIXED_REQUESTS = isLongLeaseTest ? 20_000 : 800;
const TEST_TIMEOUT_MS = isLongLeaseTest ? 1_800_000 : 240_000;
/** One of so many lease requests is too large, one is invalid, and one names no lease. */
const REFUSED_EVERY = 10;
const SETTLE_TIMEOUT_MS = 120_000;
/** Tokens that cost 1 USD, at 0.0000025 USD each. Every event uses this many. */
const TOKENS_PER_USD = 400_000;

let installation: LeaseNodes;

beforeAll(async () => {
  installation = await LeaseNodes.start();
});
afterAll(() => installation?.stop());

/** Reads the held amounts of leases, limit and wallet at one moment, and the usage. */
async function look(subjectId: string) {
  const { rows } = await installation.postgres.postgres.pool.query(
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

describe(`leases of one limit of ${LIMIT}, by many clients over two nodes`, {
  timeout: TEST_TIMEOUT_MS,
}, () => {
  it(`are granted exactly ${LIMIT} times out of ${REQUESTS}, whatever is asked between them`, async () => {
    await installation.makeSubject('exact', LIMIT);
    const larger = { ...oneDollarLease('exact', 86_400), amount: String(LIMIT + 1) };
    const absent = `/budget-leases/bl_${'0'.repeat(32)}/close`;
    const statuses = new Map<string, number>();
    let sent = 0;
    await installation.manyClients(() => {
      if (sent >= REQUESTS) return undefined;
      sent += 1;
      const turn = sent;
      return async (node) => {
        if (turn % REFUSED_EVERY === 0) {
          expect((await installation.ask(node, 'POST', '/budget-leases', larger))?.body.code).toBe(
            'limit_exceeded',
          );
          expect((await installation.ask(node, 'POST', absent))?.status).toBe(404);
          const invalid = { ...oneDollarLease('exact', 86_400), amount: '0' };
          expect((await installation.ask(node, 'POST', '/budget-leases', invalid))?.status).toBe(400);
        }
        const answer = await installation.ask(
          node,
          'POST',
          '/budget-leases',
          oneDollarLease('exact', 86_400),
        );
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
    await installation.makeSubject('mixed', LIMIT);
    let sent = 0;
    let spent = 0;
    const closable: string[] = [];
    const step = async (node: RunningService, turn: number) => {
      // Some leases are closed, some expire, and some are used up by an event; the test leaves those alone.
      const kind = turn % 3;
      const answer = await installation.ask(
        node,
        'POST',
        '/budget-leases',
        oneDollarLease('mixed', kind === 1 ? 1 : 600),
      );
      if (kind === 0) {
        if (answer?.status === 201) closable.push(answer.body.id);
        const id = closable.length > turn % 7 ? closable.shift() : undefined;
        if (id !== undefined) await installation.ask(node, 'POST', `/budget-leases/${id}/close`);
      } else if (kind === 2 && answer?.status === 201 && (await spend(node, answer.body.id))) spent += 1;
    };
    const load = installation.manyClients(() => {
      if (sent >= MIXED_REQUESTS) return undefined;
      sent += 1;
      const turn = sent;
      return (node) => step(node, turn);
    });
    const targets = [installation.nodes[1], installation.worker];
    const killed = installation.killInTurn(
      targets,
      () => expectKept('mixed'),
      () => sent >= MIXED_REQUESTS,
    );
    const [, kills] = await Promise.all([load, killed]);
    expect(kills).toBeGreaterThan(0);
    await waitFor(async () => (await look('mixed')).used >= spent, {
      timeoutMs: SETTLE_TIMEOUT_MS,
      what: 'used',
    });
    await expectKept('mixed');
    expect((await look('mixed')).used).toBeGreaterThan(0);
  });

  it('leave nothing behind once all have ended', async () => {
    const { rows } = await installation.postgres.postgres.pool.query(
      "select id from budget_leases where status = 'active' and expires_at > extract(epoch from now()) + 60",
    );
    const ids = rows.map(({ id }) => id as string);
    await installation.manyClients(() => {
      const id = ids.pop();
      return id === undefined
        ? undefined
        : async (node) => {
            expect((await installation.ask(node, 'POST', `/budget-leases/${id}/close`))?.status).toBe(200);
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
  const answer = await installation.ask(
    node,
    'POST',
    `/extractor-rule-sets/${installation.sample.ruleSetId}/events/ingest`,
    {
      source: 'test',
      idempotency_key: leaseId,
      occurred_at: Math.floor(Date.now() / 1_000),
      raw_json: { customer: 'mixed', model: 'm', usage: { input_tokens: TOKENS_PER_USD, output_tokens: 0 } },
      'x-usage-control': { budget_lease_id: leaseId },
    },
  );
  return answer?.status === 202;
}
