import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../../platform/postgres/index.js';
import { dueAtMs } from '../../testing/index.js';
import { type Receiver, startReceiver } from '../../testing/receiver.js';
import { nextAttemptMs, readBacklog } from './attempt-store.js';
import { deleteMessages, waitingMessage } from './outbox-store.js';
import { RETRY_PAUSES_MS } from './retry.js';
import { createTestWebhooks, type TestWebhooks } from './webhooks.testing.js';

const MS_PER_DAY = 86_400_000;

let hooks: TestWebhooks;
let receiver: Receiver;
/** The status of the receiver's response to a message. */
let statusFor: (messageId: string) => number;

beforeAll(async () => {
  hooks = await createTestWebhooks();
});
beforeEach(async () => {
  statusFor = () => 500;
  receiver = await startReceiver(({ headers }) => statusFor(String(headers['webhook-id'])));
});
afterEach(async () => {
  await receiver.close();
  await hooks.clear();
});
afterAll(() => hooks.close());

/** Makes every attempt that is left, at its time. */
async function exhaust(): Promise<number> {
  let attempts = await hooks.dispatcher.drain();
  for (const pauseMs of RETRY_PAUSES_MS) {
    hooks.clock.advanceMs(pauseMs);
    attempts += await hooks.dispatcher.drain();
  }
  return attempts;
}

describe('a message that is not taken', () => {
  it('is sent again after each pause and not before, then given up', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    expect(await hooks.dispatcher.drain()).toBe(1);
    for (const [index, pauseMs] of RETRY_PAUSES_MS.entries()) {
      expect(await hooks.deliveries(id)).toMatchObject([
        {
          status: 'pending',
          attempts: index + 1,
          last_status: 500,
          last_error: null,
          next_attempt_at: Math.floor((hooks.clock.nowMs() + pauseMs) / 1_000),
        },
      ]);
      hooks.clock.advanceMs(pauseMs - 1);
      expect(await hooks.dispatcher.drain()).toBe(0);
      hooks.clock.advanceMs(1);
      expect(await hooks.dispatcher.drain()).toBe(1);
    }
    expect(await hooks.deliveries(id)).toMatchObject([
      { status: 'failed', attempts: RETRY_PAUSES_MS.length + 1, next_attempt_at: null, delivered_at: null },
    ]);
    hooks.clock.advanceMs(30 * MS_PER_DAY);
    expect(await hooks.dispatcher.drain()).toBe(0);
    expect(new Set(receiver.ids()).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    // Three days of failures alone do not disable an endpoint.
    expect((await hooks.at('GET', id)).json().status).toBe('enabled');
  });

  it.each([301, 400, 404, 429, 503])('is sent again after the status %i', async (status) => {
    statusFor = () => status;
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    await hooks.dispatcher.drain();
    expect(await hooks.deliveries(id, '?status=pending')).toMatchObject([{ last_status: status }]);
    statusFor = () => 200;
    hooks.clock.advanceMs(RETRY_PAUSES_MS[0] as number);
    await hooks.dispatcher.drain();
    expect(await hooks.deliveries(id)).toMatchObject([
      { status: 'delivered', attempts: 2, last_status: 200 },
    ]);
  });

  it('says why there was no answer', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    await receiver.close();
    await hooks.emit({});
    await hooks.dispatcher.drain();
    expect(await hooks.deliveries(id)).toMatchObject([
      { status: 'pending', last_status: null, last_error: 'connection_failed: ECONNREFUSED' },
    ]);
    receiver = await startReceiver();
  });

  it('waits while the endpoint is mended: a PUT sends it to the new URL', async () => {
    const { id } = await hooks.makeEndpoint('http://127.0.0.1:1/');
    await hooks.emit({});
    await hooks.dispatcher.drain();
    statusFor = () => 200;
    await hooks.at('PUT', id, { url: receiver.url, event_types: ['*'] });
    hooks.clock.advanceMs(RETRY_PAUSES_MS[0] as number);
    await hooks.dispatcher.drain();
    expect(receiver.received).toHaveLength(1);
  });
});

it('every message reaches a receiver that refuses half of them, at least once', async () => {
  let state = 1;
  statusFor = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31 < 0.5 ? 500 : 200;
  };
  const { id } = await hooks.makeEndpoint(receiver.url);
  const taken = new Set<string>();
  const wrapped = statusFor;
  statusFor = (messageId) => {
    const status = wrapped(messageId);
    if (status === 200) taken.add(messageId);
    return status;
  };
  for (let n = 0; n < 4; n++) await hooks.emit(...Array.from({ length: 25 }, (_, m) => ({ data: { n, m } })));
  await exhaust();
  expect(taken.size).toBe(100);
  expect(new Set(receiver.ids())).toEqual(taken);
  expect((await hooks.at('GET', `${id}/deliveries?status=delivered`)).json().total_count).toBe(100);
});

describe('an endpoint', () => {
  it('that returns 410 is disabled, and its waiting deliveries are cancelled', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    const other = await hooks.makeEndpoint(receiver.url.replace('/hook', '/other'));
    await hooks.emit({ type: 'first' });
    await hooks.dispatcher.drain();
    statusFor = () => 410;
    await hooks.at('PUT', other.id, { url: receiver.url, event_types: ['none'] });
    const test = await hooks.at('POST', `${id}/test`);
    await hooks.dispatcher.drain();

    expect((await hooks.at('GET', id)).json()).toMatchObject({
      status: 'disabled',
      disabled_reason: 'gone',
      disabled_at: Math.floor(hooks.clock.nowMs() / 1_000),
    });
    expect(await hooks.deliveries(id)).toMatchObject([
      { type: 'webhook.test', status: 'failed', last_status: 410 },
      { type: 'first', status: 'cancelled', last_status: 500, next_attempt_at: null },
    ]);
    expect(await hooks.deliveries(other.id)).toMatchObject([{ status: 'pending' }]);

    // It gets nothing more.
    await hooks.emit({ type: 'second' });
    await hooks.dispatcher.drain();
    expect(await hooks.deliveries(id)).toHaveLength(2);
    for (const path of ['test', `deliveries/${test.json().message_id}/redeliver`]) {
      const refused = await hooks.at('POST', `${id}/${path}`);
      expect([refused.status, refused.json().code]).toEqual([409, 'webhook_endpoint_disabled']);
    }
    expect((await hooks.at('POST', `${id}/deliveries/msg_absent/redeliver`)).status).toBe(404);

    // A PUT enables it again; cancelled messages can be sent again by request.
    statusFor = () => 200;
    const enabled = await hooks.at('PUT', id, { url: receiver.url, event_types: ['*'] });
    expect(enabled.json()).toMatchObject({ status: 'enabled', disabled_reason: null, disabled_at: null });
    const [, first] = await hooks.deliveries(id);
    await hooks.at('POST', `${id}/deliveries/${first.message_id}/redeliver`);
    await hooks.dispatcher.drain();
    expect(await hooks.deliveries(id, '?status=delivered')).toMatchObject([{ type: 'first' }]);
  });

  it('that has taken nothing for days is disabled when one more message is given up', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({ type: 'first' });
    await exhaust();
    hooks.clock.advanceMs(3 * MS_PER_DAY);
    await hooks.emit({ type: 'second' });
    await exhaust();
    expect((await hooks.at('GET', id)).json()).toMatchObject({
      status: 'disabled',
      disabled_reason: 'failing',
    });
    expect(await hooks.deliveries(id)).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
  });

  it('that took one message in between stays', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    await exhaust();
    statusFor = () => 200;
    await hooks.emit({});
    await hooks.dispatcher.drain();
    statusFor = () => 500;
    hooks.clock.advanceMs(3 * MS_PER_DAY);
    await hooks.emit({});
    await exhaust();
    expect((await hooks.at('GET', id)).json().status).toBe('enabled');
  });

  it('that is deleted takes its waiting deliveries with it, and the others keep theirs', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    const other = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    await hooks.dispatcher.drain();
    expect((await hooks.at('DELETE', id)).status).toBe(204);
    statusFor = () => 200;
    hooks.clock.advanceMs(RETRY_PAUSES_MS[0] as number);
    expect(await hooks.dispatcher.drain()).toBe(1);
    expect(await hooks.deliveries(other.id)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  });
});

describe('the work of a dispatcher', () => {
  const found = () =>
    Promise.all([waitingMessage, nextAttemptMs].map((subquery) => dueAtMs(hooks.postgres, subquery)));

  it('is due when a message waits, and when the next attempt is due', async () => {
    await hooks.makeEndpoint(receiver.url);
    await hooks.makeEndpoint(`${receiver.url}/second`);
    expect(await found()).toEqual([null, null]);
    await hooks.emit({});
    expect(await found()).toEqual([0, null]);
    const nowMs = hooks.clock.nowMs();
    const drained = hooks.startDispatcher({
      send: async ({ url }) => ({ status: url.endsWith('second') ? 503 : 200 }),
    });
    await drained.drain();
    const [message, attemptMs] = await found();
    expect(message).toBeNull();
    expect(attemptMs).toBeGreaterThan(nowMs);
    const { rows } = await hooks.postgres.pool.query(
      "select next_attempt_at_ms from webhook_deliveries where status = 'pending'",
    );
    expect(rows).toEqual([{ next_attempt_at_ms: attemptMs }]);
  });

  it('is none, and is not measured, while the tenant is in another cell', async () => {
    const { clock, postgres, tenantId } = hooks;
    await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    await hooks.startDispatcher({ send: async () => ({ status: 503 }) }).drain();
    await hooks.emit({});
    clock.advanceMs(MS_PER_DAY);
    const { deliveries, messages } = await readBacklog(postgres.db, clock.nowMs());
    expect([deliveries, messages]).toEqual([1, 1]);
    await postgres.pool.query('insert into tenant_moves values ($1, $2, $3, 0)', [tenantId, 'm', 'moved']);
    expect(await found()).toEqual([null, null]);
    expect(await readBacklog(postgres.db, clock.nowMs())).toEqual({
      ...{ messages: 0, oldestMessageAgeMs: 0, deliveries: 0, oldestDueAgeMs: 0 },
    });
    expect(await hooks.dispatcher.drain()).toBe(0);
    const deleteAll = () => transaction(postgres, (tx) => deleteMessages(tx, clock.nowMs(), 10));
    expect(await deleteAll()).toBe(0);
    // A tenant that is only being copied works as before.
    await postgres.pool.query(`update tenant_moves set state = 'copying'`);
    expect(await found()).toEqual([0, expect.any(Number)]);
    expect(await hooks.dispatcher.drain()).toBe(2);
    await postgres.pool.query('delete from tenant_moves');
    expect(await deleteAll()).toBe(2);
  });

  it('is the earliest of all endpoints, and of all deliveries of each', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await hooks.makeEndpoint(receiver.url)).id);
    await hooks.emit({}, {});
    await hooks.startDispatcher({ send: async () => ({ status: 503 }) }).drain();
    const times = [900, 800, 700, 100, 600, 500];
    const { rows } = await hooks.postgres.pool.query<{ endpoint_id: string; message_id: string }>(
      'select endpoint_id, message_id from webhook_deliveries order by endpoint_id, message_id',
    );
    expect(rows.length).toBe(times.length);
    for (const [at, { endpoint_id, message_id }] of rows.entries()) {
      await hooks.postgres.pool.query(
        'update webhook_deliveries set next_attempt_at_ms = $1 where endpoint_id = $2 and message_id = $3',
        [times[at], endpoint_id, message_id],
      );
    }
    expect(await found()).toEqual([null, 100]);
  });
});
