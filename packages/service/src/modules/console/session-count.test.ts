import { afterAll, beforeAll, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import type { Principal } from '../../kernel/principal.js';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { SESSION_COOKIE, Sessions } from './sessions.js';

const SESSIONS_OF_KEY_MAX = 100;
const PRINCIPAL: Principal = { kind: 'service' };
/** Knows every key. */
const authenticator = { authenticate: () => PRINCIPAL, authenticateHash: () => PRINCIPAL };
const clock = new ManualClock(1_790_000_000_000);

let store: TestPostgres;
let sessions: Sessions;
beforeAll(async () => {
  store = await createTestPostgres();
  sessions = new Sessions({ postgres: store.postgres, clock, authenticator });
});
afterAll(() => store.drop());

/** Opens a session; returns whether it has not ended. */
async function open(key: string): Promise<() => Promise<boolean>> {
  const opened = await sessions.open(key);
  const headers = { cookie: `${SESSION_COOKIE}=${opened?.token}` };
  return async () => (await sessions.authenticate({ method: 'GET', headers })) !== undefined;
}

it('a new session beyond the bound ends the oldest of its key, and none of another key', async () => {
  const ofOther = await open('other');
  const isOpen: (() => Promise<boolean>)[] = [];
  for (let n = 0; n <= SESSIONS_OF_KEY_MAX; n++) {
    clock.advanceMs(1_000);
    isOpen.push(await open('key'));
  }
  expect(await Promise.all(isOpen.map((each) => each()))).toEqual(isOpen.map((_, n) => n > 0));
  expect(await ofOther()).toBe(true);
});

it('sessions beyond the bound that were opened at once end with the next one', async () => {
  await Promise.all(Array.from({ length: 120 }, () => open('busy')));
  clock.advanceMs(1_000);
  const isOpen = await open('busy');
  expect(await isOpen()).toBe(true);
  const { rows } = await store.postgres.pool.query(
    'select count(*)::int as count from console_sessions group by key_hash order by count desc limit 1',
  );
  expect(rows).toEqual([{ count: SESSIONS_OF_KEY_MAX }]);
});
