import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../platform/postgres/index.js';
import { waitFor } from '../../testing/index.js';
import { type Receiver, startReceiver } from '../../testing/receiver.js';
import { cancelOfDisabled } from './attempt-store.js';
import { createTestWebhooks, type TestWebhooks } from './webhooks.testing.js';

const WAITING = 5;

let hooks: TestWebhooks;
let receiver: Receiver;
let endpointId: string;

beforeAll(async () => {
  hooks = await createTestWebhooks();
});
beforeEach(async () => {
  receiver = await startReceiver(() => 410);
  ({ id: endpointId } = await hooks.makeEndpoint(receiver.url));
  await hooks.emit(...Array.from({ length: WAITING }, () => ({})));
});
afterEach(async () => {
  await receiver.close();
  await hooks.clear();
});
afterAll(() => hooks.close());

const statuses = async () =>
  (await hooks.deliveries(endpointId)).map(({ status }: { readonly status: string }) => status).sort();
const times = (status: string, count: number) => Array<string>(count).fill(status);

/** Makes the dispatcher attempt one message, upon which the endpoint is disabled. */
const disable = () => hooks.startDispatcher({ attemptsMax: 1, cancelledMax: 2 }).drain();

/** As an interrupted process leaves the deliveries of an endpoint that it has disabled. */
async function leavePending(): Promise<void> {
  await disable();
  await hooks.postgres.pool.query(
    `update webhook_deliveries set status = 'pending', next_attempt_at_ms = 0 where status = 'cancelled'`,
  );
}

describe('the deliveries of an endpoint that is disabled', () => {
  it('are cancelled in parts', async () => {
    await leavePending();
    const cancelSome = () => transaction(hooks.postgres, (tx) => cancelOfDisabled(tx, 3));
    expect([await cancelSome(), await cancelSome(), await cancelSome()]).toEqual([3, 1, 0]);
    expect(await statuses()).toEqual([...times('cancelled', WAITING - 1), 'failed']);
  });

  it('are all cancelled, except one that another transaction has locked, for which nothing waits', async () => {
    const { pool } = hooks.postgres;
    await hooks.startDispatcher({ send: () => Promise.reject(new Error('lost')) }).drain();
    await pool.query('update webhook_deliveries set next_attempt_at_ms = 0');
    const client = await pool.connect();
    await client.query('begin');
    await client.query('select from webhook_deliveries order by message_id limit 1 for update');
    await disable();
    expect((await hooks.at('GET', endpointId)).json().status).toBe('disabled');
    expect(await statuses()).toEqual([...times('cancelled', WAITING - 2), 'failed', 'pending']);
    await client.query('commit');
    client.release();
    await hooks.dispatcher.drain();
    expect(receiver.received).toHaveLength(1);
  });

  it('are cancelled by the upkeep of any process if that was interrupted', async () => {
    await leavePending();
    const ending = new AbortController();
    const running = hooks.startDispatcher({ cancelledMax: 1 }).run(ending.signal);
    await waitFor(async () => !(await statuses()).includes('pending'), { what: 'the cancellation' });
    ending.abort();
    await running;
    expect(receiver.received).toHaveLength(1);
  });

  it('are cancelled before it is enabled again', async () => {
    await leavePending();
    await hooks.at('PUT', endpointId, { url: receiver.url, event_types: ['*'] });
    expect(await statuses()).toEqual([...times('cancelled', WAITING - 1), 'failed']);
  });
});
