import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLimit, type TestLimits } from '../check/realtime.testing.js';
import type { SubjectLimits } from '../check/subject-limits.js';
import { decideLeaseRequests } from './group.js';
import { LeaseCalls, plainInput } from './lease-calls.testing.js';
import type { WrittenGroup } from './unlocked.js';
import { statementsOf, untilRead } from './unlocked.testing.js';

const ONE = 10n ** 18n;

let calls: LeaseCalls;
let api: TestLimits;
let limits: SubjectLimits;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
  limits = calls.subjectLimits();
});
afterAll(() => api.close());

/** A subject with a limit of 10 USD and one of 4 active leases, with a lease of 1 USD. */
async function makeSubject(): Promise<string> {
  const { subjectId, route } = await calls.makeSubject();
  await makeLimit(api, route, { key: subjectId, amount: '10', period: 'lifetime' });
  const slots = { measure: 'concurrency', period: 'lifetime' } as const;
  await makeLimit(api, route, { key: `${subjectId}_slots`, amount: '4', ...slots });
  await calls.grant(subjectId, { amount: '1' });
  return subjectId;
}

/** Decides requests for leases of these amounts. */
async function decide(
  subjectId: string,
  amounts: readonly bigint[],
  postgres = api.postgres,
  before?: Promise<WrittenGroup | undefined>,
) {
  const requests = amounts.map((amount) => {
    const input = plainInput({ type: 'user', id: subjectId }, amount * ONE, { ttlSeconds: 60 });
    return { do: 'grant', input, parent: undefined, key: undefined, asked: [] } as const;
  });
  const deps = { postgres, clock: api.clock, limits };
  const { results, left } = await decideLeaseRequests(deps, await calls.project(), requests, before);
  const outcomes = results.map((result) => ('error' in result ? result.error : result.answer));
  return { outcomes, left };
}

/** Decides requests whose rules are read before the group before writes what it does. */
async function decideAhead(
  subjectId: string,
  amounts: readonly bigint[],
  before: () => Promise<WrittenGroup | undefined>,
) {
  const { postgres, isRead } = untilRead(api, 'limits-usage');
  const { outcomes } = await decide(subjectId, amounts, postgres, isRead.then(before));
  return outcomes;
}

/** The prepared statements that ran meanwhile, of limits and leases. */
const preparedOf = async (work: () => Promise<unknown>) =>
  (await statementsOf(api, work)).filter((name) => name.startsWith('l') && name.includes('-'));

const full = (reserved: string) => ({ code: 'limit_exceeded', details: [{ reserved_amount: reserved }] });

describe('a group that is read while the one before it writes', () => {
  it('is decided by what that one has left, without another read or a lock', async () => {
    const subjectId = await makeSubject();
    const statements = await preparedOf(async () => {
      const outcomes = await decideAhead(subjectId, [6n, 5n], async () => {
        const { left } = await decide(subjectId, [4n]);
        return left;
      });
      expect(outcomes).toMatchObject([full('5'), { amount: '5' }]);
    });
    expect(statements).toEqual(['limits-usage', 'limits-usage', 'leases-unlocked', 'leases-unlocked']);
    expect(await calls.reservedOf(subjectId)).toContainEqual([`racl_${subjectId}`, '10']);
    expect(await calls.differences()).toEqual([]);
  });

  it('counts the leases of that one in a limit on concurrent work', async () => {
    const subjectId = await makeSubject();
    const outcomes = await decideAhead(subjectId, [1n, 1n], async () => {
      const { left } = await decide(subjectId, [1n, 1n]);
      return left;
    });
    expect(outcomes).toMatchObject([
      { amount: '1' },
      { code: 'limit_exceeded', details: [{ used_amount: '4' }] },
    ]);
    expect(await calls.differences()).toEqual([]);
  });

  it('is decided again when another process has reserved after that one', async () => {
    const subjectId = await makeSubject();
    const outcomes = await decideAhead(subjectId, [5n, 4n], async () => {
      const { left } = await decide(subjectId, [4n]);
      await calls.grant(subjectId, { amount: '1' });
      return left;
    });
    expect(outcomes).toMatchObject([full('6'), { amount: '4' }]);
    expect(await calls.differences()).toEqual([]);
  });

  it('is read again when it is not known what that one has written', async () => {
    const subjectId = await makeSubject();
    const statements = await preparedOf(async () => {
      const outcomes = await decideAhead(subjectId, [6n, 5n], async () => {
        await decide(subjectId, [4n]);
        return undefined;
      });
      expect(outcomes).toMatchObject([full('5'), { amount: '5' }]);
    });
    const [read, ofBefore, write] = ['limits-usage', 'limits-usage', 'leases-unlocked'];
    expect(statements).toEqual([read, ofBefore, write, read, write]);
    expect(await calls.differences()).toEqual([]);
  });
});
