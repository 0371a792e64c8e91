import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../platform/postgres/index.js';
import { TEST_NOW_S } from '../../testing/api.js';
import { type Receiver, startReceiver } from '../../testing/receiver.js';
import { emit } from './index.js';
import { fanOut } from './outbox-store.js';
import { createTestWebhooks, isSignedBy, type TestWebhooks } from './webhooks.testing.js';

let hooks: TestWebhooks;
let receiver: Receiver;
/** Status of the receiver's next response. */
let status = 204;

beforeAll(async () => {
  hooks = await createTestWebhooks();
  receiver = await startReceiver(() => status);
});
afterEach(async () => {
  status = 204;
  (receiver.received as unknown[]).length = 0;
  await hooks.clear();
});
afterAll(async () => {
  await receiver.close();
  await hooks.close();
});

const LIMIT = {
  id: 'ulpr_1',
  limit_amount: '10',
  used_amount: '12.000000000000000001',
  note: 'ü "\\ \u2028',
};

describe('messages that wait for their deliveries', () => {
  it('are taken from each tenant in turn, so that none waits for the backlog of another', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    const tenantId = await hooks.makeTenant();
    const projectId = await hooks.makeProject(tenantId);
    await hooks.emit(...Array.from({ length: 20 }, (_, n) => ({ data: { n } })));
    await hooks.emit({ tenantId, projectId, atMs: hooks.clock.nowMs() + 1 });
    const taken = () => transaction(hooks.postgres, (tx) => fanOut(tx, 10, hooks.clock.nowMs()));
    expect(await taken()).toEqual({ messages: 6, isMore: true });
    const { rows } = await hooks.postgres.pool.query(
      'select fanned_out_at_ms from webhook_messages where tenant_id = $1',
      [tenantId],
    );
    expect(rows).toEqual([{ fanned_out_at_ms: hooks.clock.nowMs() }]);
    expect(await taken()).toEqual({ messages: 10, isMore: true });
    expect(await taken()).toEqual({ messages: 5, isMore: false });
    expect(await taken()).toEqual({ messages: 0, isMore: false });
    expect((await hooks.at('GET', `${id}/deliveries`)).json().total_count).toBe(20);
  });
});

describe('an event', () => {
  it('is posted to those who listen, as the specification says', async () => {
    const { id, secret } = await hooks.makeEndpoint(receiver.url, ['usage_limit.exceeded', 'other']);
    await hooks.makeEndpoint(receiver.url, ['usage_limit']);
    await hooks.emit({ data: LIMIT });
    expect(await hooks.dispatcher.drain()).toBe(1);

    const [received] = receiver.received;
    if (received === undefined) throw new Error('nothing was received');
    expect(receiver.received).toHaveLength(1);
    expect(received).toMatchObject({
      method: 'POST',
      path: '/hook',
      headers: {
        'content-type': 'application/json',
        'webhook-id': expect.stringMatching(/^msg_[0-9a-f]{32}$/),
        'webhook-timestamp': String(TEST_NOW_S),
        'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      },
    });
    expect(received.headers.authorization).toBeUndefined();
    expect(JSON.parse(received.body)).toEqual({
      type: 'usage_limit.exceeded',
      timestamp: new Date(TEST_NOW_S * 1_000).toISOString(),
      data: LIMIT,
    });
    expect(isSignedBy(secret, received)).toBe(true);
    expect(isSignedBy(secret, { ...received, body: `${received.body} ` })).toBe(false);

    expect(await hooks.deliveries(id)).toEqual([
      {
        message_id: received.headers['webhook-id'],
        endpoint_id: id,
        type: 'usage_limit.exceeded',
        status: 'delivered',
        attempts: 1,
        next_attempt_at: null,
        last_attempt_at: TEST_NOW_S,
        last_status: 204,
        last_error: null,
        delivered_at: TEST_NOW_S,
        created_at: TEST_NOW_S,
      },
    ]);
    expect(await hooks.dispatcher.drain()).toBe(0);
  });

  it('goes to every endpoint that wants it, each with a signature of its own', async () => {
    const endpoints = [
      await hooks.makeEndpoint(receiver.url),
      await hooks.makeEndpoint(receiver.url, ['a.b']),
    ];
    await hooks.emit({ type: 'a.b' });
    await hooks.dispatcher.drain();
    const [first, second] = receiver.received;
    if (first === undefined || second === undefined) throw new Error('two are expected');
    expect(first.headers['webhook-id']).toBe(second.headers['webhook-id']);
    expect(first.body).toBe(second.body);
    const signed = endpoints.map(
      ({ secret }) => receiver.received.filter((one) => isSignedBy(secret, one)).length,
    );
    expect(signed).toEqual([1, 1]);
  });

  it("stays in its project, also where another tenant's endpoint listens to everything", async () => {
    await hooks.makeEndpoint(receiver.url);
    const projectId = await hooks.makeProject(await hooks.makeTenant());
    const { rows } = await hooks.postgres.pool.query('select tenant_id from projects where id = $1', [
      projectId,
    ]);
    await hooks.emit({ projectId, tenantId: rows[0].tenant_id });
    expect(await hooks.dispatcher.drain()).toBe(0);
    expect(receiver.received).toEqual([]);
  });

  it('is not sent when its transaction does not commit', async () => {
    await hooks.makeEndpoint(receiver.url);
    const { tenantId, projectId } = hooks;
    await transaction(hooks.postgres, async (tx) => {
      await emit(tx, [{ tenantId, projectId, type: 'a', data: {}, atMs: 1 }]);
      throw new Error('undone');
    }).catch(() => {});
    expect(await hooks.dispatcher.drain()).toBe(0);
  });

  it('that happens once is sent once: in one statement, in two, and in two at the same time', async () => {
    await hooks.makeEndpoint(receiver.url);
    const event = { dedupeKey: 'limit 1, window 2, 80 %' };
    await hooks.emit(
      { ...event, data: 'first' },
      { ...event, data: 'second' },
      { data: 'free' },
      { data: 'free' },
    );
    await Promise.all([hooks.emit(event), hooks.emit(event), hooks.emit({ dedupeKey: 'other' }, event)]);
    await hooks.dispatcher.drain();
    const bodies = receiver.received.map(({ body }) => JSON.parse(body).data);
    expect(bodies).toHaveLength(4);
    expect(bodies.filter((data) => data === 'first')).toHaveLength(1);
    expect(bodies).not.toContain('second');
  });

  it('is sent once in each project that has the same key', async () => {
    const projectId = await hooks.makeProject(hooks.tenantId);
    await hooks.emit({ dedupeKey: 'k' }, { dedupeKey: 'k', projectId });
    const { rows } = await hooks.postgres.pool.query('select project_id from webhook_messages');
    expect(rows.map((row) => row.project_id).sort()).toEqual([hooks.projectId, projectId].sort());
  });

  it('of a batch without events needs no statement', async () => {
    await transaction(hooks.postgres, (tx) => emit(tx, []));
  });

  it('keeps its place: messages are listed newest first', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({ type: 'a', dedupeKey: 'z' }, { type: 'b', dedupeKey: 'y' }, { type: 'c' });
    hooks.clock.advanceMs(1);
    await hooks.emit({ type: 'd' });
    await hooks.dispatcher.drain();
    const types = async (query = '') => (await hooks.deliveries(id, query)).map(({ type }) => type);
    expect(await types()).toEqual(['d', 'c', 'b', 'a']);
    expect(await types('?limit=2&offset=1')).toEqual(['c', 'b']);
    expect(await types('?status=delivered&limit=1')).toEqual(['d']);
    expect(await types('?status=failed')).toEqual([]);
    expect((await hooks.at('GET', `${id}/deliveries?status=lost`)).status).toBe(400);
  });
});

describe('the secrets', () => {
  it('both sign for a day after a rotation, then only the new one', async () => {
    const { id, secret: oldest } = await hooks.makeEndpoint(receiver.url);
    const { secret: old } = (await hooks.at('POST', `${id}/rotate-secret`)).json();
    const { secret } = (await hooks.at('POST', `${id}/rotate-secret`)).json();
    const signers = async () => {
      await hooks.emit({});
      await hooks.dispatcher.drain();
      const received = receiver.received.at(-1);
      if (received === undefined) throw new Error('nothing was received');
      return [oldest, old, secret].map((each) => isSignedBy(each, received));
    };
    expect(await signers()).toEqual([false, true, true]);
    hooks.clock.advanceMs(86_400_000 - 1_000);
    expect(await signers()).toEqual([false, true, true]);
    hooks.clock.advanceMs(1_000);
    expect(await signers()).toEqual([false, false, true]);
  });
});

describe('a test', () => {
  it('sends a message now, whatever the endpoint listens to, and to it alone', async () => {
    const { id, secret } = await hooks.makeEndpoint(receiver.url, ['usage_limit.exceeded']);
    await hooks.makeEndpoint(receiver.url);
    const answer = await hooks.at('POST', `${id}/test`);
    expect(answer.status).toBe(202);
    expect(answer.json()).toMatchObject({
      endpoint_id: id,
      type: 'webhook.test',
      status: 'pending',
      attempts: 0,
    });
    await hooks.dispatcher.drain();
    expect(receiver.ids()).toEqual([answer.json().message_id]);
    const [received] = receiver.received;
    expect(received && isSignedBy(secret, received)).toBe(true);
    expect(JSON.parse(received?.body ?? '')).toMatchObject({
      type: 'webhook.test',
      data: { webhook_endpoint_id: id, project_id: hooks.projectId },
    });
  });
});

describe('a redelivery', () => {
  it('sends the same message under the same id with a new signature, whatever became of it', async () => {
    const { id, secret } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({ data: LIMIT });
    await hooks.dispatcher.drain();
    hooks.clock.advanceMs(3_600_000);
    const [messageId] = receiver.ids();
    const answer = await hooks.at('POST', `${id}/deliveries/${messageId}/redeliver`);
    expect(answer.status).toBe(202);
    expect(answer.json()).toMatchObject({ status: 'pending', attempts: 0, delivered_at: null });
    status = 500;
    await hooks.dispatcher.drain();
    status = 204;
    await hooks.at('POST', `${id}/deliveries/${messageId}/redeliver`);
    await hooks.dispatcher.drain();

    const [first, second, third] = receiver.received;
    expect(receiver.ids()).toEqual([messageId, messageId, messageId]);
    expect([second?.body, third?.body]).toEqual([first?.body, first?.body]);
    expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
    expect(receiver.received.every((received) => isSignedBy(secret, received))).toBe(true);
    expect(await hooks.deliveries(id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });

  it('needs a message of this endpoint', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    const other = await hooks.makeEndpoint(receiver.url, ['none']);
    await hooks.emit({});
    await hooks.dispatcher.drain();
    const [messageId] = receiver.ids();
    const path = `${other.id}/deliveries/${messageId}/redeliver`;
    expect((await hooks.at('POST', path)).status).toBe(404);
    expect((await hooks.at('POST', `${id}/deliveries/msg_absent/redeliver`)).status).toBe(404);
  });
});
