import { afterAll, beforeAll, expect, it } from 'vitest';
import { isLongLeaseTest, LeaseNodes, oneDollarLease } from './support/lease-nodes.js';
import type { RunningService } from './support/service.js';

const LIMIT = isLongLeaseTest ? 10_000 : 500;
/** Together, the teams could exceed the limit of the organization. */
const TEAM_LIMIT = (LIMIT * 8) / 10;
const REQUESTS = isLongLeaseTest ? 64_000 : 2_000;
const TEST_TIMEOUT_MS = isLongLeaseTest ? 1_800_000 : 240_000;
const ORGANIZATION = 'organization';
const TEAMS = ['left', 'right'];
const USERS = TEAMS.flatMap((team) => [`${team} a`, `${team} b`]);

let installation: LeaseNodes;

beforeAll(async () => {
  installation = await LeaseNodes.start();
  await installation.makeSubject(ORGANIZATION, LIMIT);
  for (const team of TEAMS) await installation.makeSubject(team, TEAM_LIMIT, ORGANIZATION);
  for (const user of USERS) await installation.makeSubject(user, LIMIT, user.split(' ')[0]);
});
afterAll(() => installation?.stop());

/** Reads at one moment what each subject reserves, and what leases of it and of those below it hold. */
async function reservedByLevel(): Promise<{ id: string; reserved: number; held: number }[]> {
  const { rows } = await installation.postgres.postgres.pool.query(
    `select r.subject_id as id, r.reserved::float, (
      select coalesce(sum(l.held), 0) from budget_leases l
      where r.subject_id = $1 or l.subject_id = r.subject_id or starts_with(l.subject_id, r.subject_id || ' ')
    )::float as held
    from limit_reserved r`,
    [ORGANIZATION],
  );
  return rows;
}

async function expectKept(): Promise<void> {
  for (const { id, reserved, held } of await reservedByLevel()) {
    expect([id, reserved]).toEqual([id, held]);
    expect(reserved).toBeLessThanOrEqual(TEAMS.includes(id) ? TEAM_LIMIT : LIMIT);
  }
}

/** Asks until there is an answer: one that is lost in a kill is asked for again with its key. */
async function granted(node: RunningService, turn: number): Promise<string | undefined> {
  const body = oneDollarLease(USERS[turn % USERS.length] as string, 86_400);
  for (let at = node; ; at = installation.nodes[0]) {
    const answer = await installation.ask(at, 'POST', '/budget-leases', body, `turn ${turn}`);
    if (answer === undefined) continue;
    if (answer.status === 201) return answer.body.id;
    expect(answer.body.code).toBe('limit_exceeded');
    return undefined;
  }
}

it(`grants exactly ${LIMIT} leases of ${REQUESTS} over three levels and two nodes, one of which is killed`, {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  const ids: string[] = [];
  let sent = 0;
  const isOver = () => sent >= REQUESTS;
  const load = installation.manyClients(() => {
    if (isOver()) return undefined;
    sent += 1;
    const turn = sent;
    return async (node) => {
      const id = await granted(node, turn);
      if (id !== undefined) ids.push(id);
    };
  });
  const killed = installation.killInTurn([installation.nodes[1]], expectKept, isOver);
  const [, kills] = await Promise.all([load, killed]);
  expect(kills).toBeGreaterThan(0);
  expect([ids.length, new Set(ids).size]).toEqual([LIMIT, LIMIT]);
  await expectKept();
  const top = (await reservedByLevel()).find(({ id }) => id === ORGANIZATION);
  expect(top).toEqual({ id: ORGANIZATION, reserved: LIMIT, held: LIMIT });
});
