import { LIMITS_AT_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_NOW_S } from '../../../testing/api.js';
import { createTestLimits, makeLimit, makeRoute, setUsed, type TestLimits } from './realtime.testing.js';

const HOUR_S = 3_600;
const DAY_S = 86_400;
const TODAY_S = TEST_NOW_S - (TEST_NOW_S % DAY_S);

let api: TestLimits;

beforeAll(async () => {
  api = await createTestLimits();
  const route = await makeRoute(api, { id: 'ra_all' });
  const day = await makeLimit(api, route, { key: '1day', period: 'day', amount: '10' });
  const life = await makeLimit(api, route, { key: '2life', period: 'lifetime', amount: '50' });
  await setUsed(api, day, { startS: TODAY_S, limit: '10' }, '2');
  await setUsed(api, day, { startS: TODAY_S - DAY_S, limit: '7' }, '7.5');
  await setUsed(api, life, { startS: 0, limit: '50' }, '9.5');
  const lease = { subject_type: 'user', subject_id: 'u1', amount: '3', currency: 'USD', ttl_seconds: 60 };
  expect((await api.call('POST', `${api.url}/budget-leases`, lease)).status).toBe(201);
});
afterAll(() => api.close());

const read = (query: string) =>
  api.call('GET', `${api.url}/subject/realtime/limits?subject_type=user&subject_id=u1${query}`);

/** Returns for each limit: its window, and what is used and reserved of how much. */
async function limitsAt(query: string): Promise<string[]> {
  const { status, json } = await read(query);
  expect(status).toBe(200);
  return json().limits.map(
    (limit: Record<string, string>) =>
      `${limit.window_id} ${limit.used_amount}+${limit.reserved_amount}/${limit.limit_amount}`,
  );
}

describe('the snapshot of another time', () => {
  it('shows the windows that contain it, up to their last second', async () => {
    const yesterday = [`day:${TODAY_S - DAY_S} 7.5+0/7`, 'lifetime:0 9.5+3/50'];
    expect(await limitsAt(`&at=${TODAY_S - DAY_S}`)).toEqual(yesterday);
    expect(await limitsAt(`&at=${TODAY_S - 1}`)).toEqual(yesterday);
    const { limits } = (await read(`&at=${TODAY_S - 1}`)).json();
    expect(limits[0]).toMatchObject({ next_reset_at: TODAY_S, remaining_amount: '-0.5', exceeded: true });
  });

  it('shows what leases hold in the windows that contain the present', async () => {
    const today = [`day:${TODAY_S} 2+3/10`, 'lifetime:0 9.5+3/50'];
    expect(await limitsAt('')).toEqual(today);
    expect(await limitsAt(`&at=${TODAY_S}`)).toEqual(today);
    expect(await limitsAt(`&at=${TODAY_S + DAY_S - 1}`)).toEqual(today);
  });

  it('shows a window without usage with the limit with which it would open', async () => {
    expect(await limitsAt(`&at=${TODAY_S - 2 * DAY_S}`)).toEqual([
      `day:${TODAY_S - 2 * DAY_S} 0+0/10`,
      'lifetime:0 9.5+3/50',
    ]);
    expect(await limitsAt(`&at=${TODAY_S + DAY_S}`)).toEqual([
      `day:${TODAY_S + DAY_S} 0+0/10`,
      'lifetime:0 9.5+3/50',
    ]);
  });

  it('may be any time that an event can have', async () => {
    expect((await limitsAt('&at=0'))[0]).toBe('day:0 0+0/10');
    expect((await limitsAt(`&at=${LIMITS_AT_MAX}`))[0]).toMatch(/^day:\d+ 0\+0\/10$/);
  });

  it.each(['-1', '1.5', 'now', '', String(LIMITS_AT_MAX + 1), '1e9x'])('refuses "%s"', async (at) => {
    const { status, json } = await read(`&at=${at}`);
    expect([status, json().code]).toEqual([400, 'invalid_request']);
  });
});

describe('a window that opens with the first usage', () => {
  const DURATION_S = 5 * 3_600;
  const OPENED_S = TEST_NOW_S - 600;
  let before: string[];

  beforeAll(async () => {
    const route = await makeRoute(api, { id: 'ra_u2', subjectId: 'u2' });
    const first = await makeLimit(api, route, { key: 'first', period: 'first_use:5h', amount: '10' });
    const lease = { subject_type: 'user', subject_id: 'u2', amount: '3', currency: 'USD', ttl_seconds: 60 };
    expect((await api.call('POST', `${api.url}/budget-leases`, lease)).status).toBe(201);
    before = await shown('');
    await api.postgres.pool.query(
      `insert into current_windows (project_no, subject_type, subject_id, used, rule_nos, window_starts, window_ends,
        limit_amounts, next_notices, opened_at_ms)
      select no, 'user', 'u2', '{4}', array[$1::int], array[$2::bigint], array[$3::bigint], '{10}', '{10}', '{0}'
      from projects where id = $4`,
      [first, OPENED_S, OPENED_S + DURATION_S, api.projectId],
    );
    const past = { limit: '10', startS: OPENED_S - DAY_S, endS: OPENED_S - DAY_S + DURATION_S };
    await setUsed(api, first, past, '7', 'u2');
    await setUsed(api, first, { limit: '10', startS: OPENED_S - HOUR_S, endS: OPENED_S }, '2', 'u2');
  });

  async function shown(query: string): Promise<string[]> {
    const { json } = await api.call(
      'GET',
      `${api.url}/subject/realtime/limits?subject_type=user&subject_id=u2${query}`,
    );
    return json().limits.map(
      (limit: Record<string, string>) => `${limit.window_id} ${limit.used_amount} ${limit.next_reset_at}`,
    );
  }

  it('has no start and no reset time before, also when leases reserve of it', () => {
    expect(before).toEqual(['first_use:5h 0 undefined']);
  });

  it('contains the time that is asked for, or is not open then', async () => {
    const open = [`first_use:5h:${OPENED_S} 4 ${OPENED_S + DURATION_S}`];
    const past = [`first_use:5h:${OPENED_S - DAY_S} 7 ${OPENED_S - DAY_S + DURATION_S}`];
    expect(await shown('')).toEqual(open);
    expect(await shown(`&at=${OPENED_S}`)).toEqual(open);
    expect(await shown(`&at=${OPENED_S + DURATION_S}`)).toEqual(['first_use:5h 0 undefined']);
    expect(await shown(`&at=${OPENED_S - 1}`)).toEqual([`first_use:5h:${OPENED_S - HOUR_S} 2 ${OPENED_S}`]);
    expect(await shown(`&at=${OPENED_S - HOUR_S - 1}`)).toEqual(['first_use:5h 0 undefined']);
    expect(await shown(`&at=${OPENED_S - DAY_S}`)).toEqual(past);
    expect(await shown(`&at=${OPENED_S - DAY_S + DURATION_S - 1}`)).toEqual(past);
    expect(await shown(`&at=${OPENED_S - DAY_S - 1}`)).toEqual(['first_use:5h 0 undefined']);
  });
});

describe('a sliding window', () => {
  const STEP_S = 60;
  const START_S = TEST_NOW_S - (TEST_NOW_S % STEP_S);

  beforeAll(async () => {
    const route = await makeRoute(api, { id: 'ra_u3', subjectId: 'u3' });
    const ruleNo = await makeLimit(api, route, { key: 'slide', period: 'sliding:1h', amount: '10' });
    const untilS = START_S + STEP_S - 1 + 3_600;
    await api.postgres.pool.query(
      `insert into sliding_steps (project_no, subject_type, subject_id, rule_no, step_start, step_end, counts_from,
        counts_until, used, opened_at_ms)
      select no, 'user', 'u3', $1, $2, $3, v.counts_from, $4, v.used, 0
      from projects, (values ($2::bigint, 6), ($5::bigint, 3)) as v (counts_from, used) where id = $6`,
      [ruleNo, START_S, START_S + STEP_S, untilS, TEST_NOW_S + 1, api.projectId],
    );
  });

  const snapshot = async (query: string) =>
    (
      await api.call('GET', `${api.url}/subject/realtime/limits?subject_type=user&subject_id=u3${query}`)
    ).json().limits;
  const check = async (amount: string) =>
    (
      await api.call('POST', `${api.url}/subject/realtime/check`, {
        ...{ subject_type: 'user', subject_id: 'u3', amount, currency: 'USD' },
      })
    ).json();

  it('shows the usage of now, and what will count later', async () => {
    const [limit] = await snapshot('');
    expect(limit).toMatchObject({ window_id: 'sliding:1h', used_amount: '6', remaining_amount: '4' });
    expect(limit).not.toHaveProperty('next_reset_at');
    expect((await snapshot(`&at=${TEST_NOW_S + 1}`))[0]).toMatchObject({
      used_amount: '9',
      limit_amount: '10',
    });
    expect((await snapshot(`&at=${START_S + STEP_S + 3_599}`))[0]).toMatchObject({ used_amount: '0' });
  });

  it('is left out of the snapshot of a past time, which it does not know', async () => {
    expect(await snapshot(`&at=${TEST_NOW_S - 1}`)).toEqual([]);
  });

  it('blocks a check, and a lease', async () => {
    expect(await check('4')).toMatchObject({ allowed: true });
    expect(await check('4.1')).toMatchObject({ allowed: false, blocked_by: [{ window_id: 'sliding:1h' }] });
    const lease = { subject_type: 'user', subject_id: 'u3', currency: 'USD', ttl_seconds: 60 };
    const refused = await api.call('POST', `${api.url}/budget-leases`, { ...lease, amount: '4.1' });
    expect([refused.status, refused.json().code]).toEqual([409, 'limit_exceeded']);
    expect((await api.call('POST', `${api.url}/budget-leases`, { ...lease, amount: '4' })).status).toBe(201);
  });
});
