import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestPostgres, type TestPostgres, waitFor } from '../../testing/index.js';
import {
  lockUntilCommit,
  shareLockUntilCommit,
  tryLockUntilCommit,
  withAdvisoryLock,
} from './advisory-lock.js';
import { type Tx, transaction } from './connect.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

test('an advisory lock lets one work at a time, and falls after a failure', async () => {
  let inside = 0;
  const work = async () => {
    expect(++inside).toBe(1);
    await store.postgres.pool.query('select 1');
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => withAdvisoryLock(store.postgres, 'test', work)));
  const failing = withAdvisoryLock(store.postgres, 'test', () => Promise.reject(new Error('inside')));
  await expect(failing).rejects.toThrow('inside');
  await withAdvisoryLock(store.postgres, 'test', work);
});

test('a transaction alone holds a lock until it ends, however it ends', async () => {
  let inside = 0;
  const work = async (tx: Tx) => {
    await lockUntilCommit(tx, 'test');
    expect(++inside).toBe(1);
    await store.postgres.pool.query('select 1');
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => transaction(store.postgres, work)));
  const failing = transaction(store.postgres, async (tx) => {
    await lockUntilCommit(tx, 'test');
    throw new Error('inside');
  });
  await expect(failing).rejects.toThrow('inside');
  await transaction(store.postgres, work);
});

test('a transaction that tries to take a lock does not wait for it', async () => {
  const tryIt = () => transaction(store.postgres, (tx) => tryLockUntilCommit(tx, 'test'));
  await transaction(store.postgres, async (holder) => {
    await shareLockUntilCommit(holder, 'test');
    expect(await tryIt()).toBe(false);
  });
  expect(await tryIt()).toBe(true);
});

const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

test('transactions share a lock with each other, and not with one that locks it', async () => {
  const order: string[] = [];
  let locking: Promise<void> | undefined;
  await transaction(store.postgres, async (first) => {
    await shareLockUntilCommit(first, 'test');
    await transaction(store.postgres, (second) => shareLockUntilCommit(second, 'test'));
    locking = transaction(store.postgres, async (tx) => {
      await lockUntilCommit(tx, 'test');
      order.push('locked');
    });
    await waitFor(async () => (await store.beside(WAITING)).length > 0, { what: 'the wait' });
    order.push('shared');
  });
  await locking;
  expect(order).toEqual(['shared', 'locked']);
});
