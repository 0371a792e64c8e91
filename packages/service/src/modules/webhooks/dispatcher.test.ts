import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../platform/metrics/index.js';
import { WorkWatch } from '../../platform/postgres/index.js';
import { waitFor } from '../../testing/index.js';
import { type Receiver, startReceiver } from '../../testing/receiver.js';
import { readBacklog } from './attempt-store.js';
import { LEASE_MS } from './dispatcher.js';
import { createSender, type Send } from './index.js';
import type { SendOutcome } from './sender.js';
import { createTestWebhooks, type TestWebhooks } from './webhooks.testing.js';

const MS_PER_DAY = 86_400_000;

let hooks: TestWebhooks;
let receiver: Receiver;
let stop: AbortController;
const running: Promise<void>[] = [];

beforeAll(async () => {
  hooks = await createTestWebhooks();
});
beforeEach(async () => {
  receiver = await startReceiver();
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(running.splice(0));
  await receiver.close();
  await hooks.clear();
});
afterAll(() => hooks.close());

/** Posts that end when the test says so. */
class HeldSend {
  readonly begun: { readonly url: string; end(outcome: SendOutcome): void }[] = [];
  readonly send: Send = ({ url }, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      this.begun.push({ url, end: resolve });
    });
}

function run(...args: Parameters<TestWebhooks['startDispatcher']>): Promise<void> {
  const dispatcher = hooks.startDispatcher(...args);
  const { postgres, clock } = hooks;
  const watch = new WorkWatch({ postgres, clock, log: { warn: () => {} } });
  for (const work of dispatcher.awaited) watch.add(work);
  const ended = dispatcher.run(stop.signal);
  running.push(ended, watch.run(stop.signal));
  return ended;
}

const statuses = async (endpointId: string) =>
  (await hooks.deliveries(endpointId, '?limit=100')).map(({ status }) => status);

describe('a running dispatcher', () => {
  it('delivers what is noted while it runs', async () => {
    run();
    await hooks.makeEndpoint(receiver.url);
    await hooks.emit({}, {});
    await waitFor(() => receiver.received.length === 2);
  });

  it('ends, and lets what is under way end first', async () => {
    const held = new HeldSend();
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    const ended = run({ send: held.send });
    await waitFor(() => held.begun.length === 1);
    stop.abort();
    held.begun[0]?.end({ status: 200 });
    await ended;
    expect(await statuses(id)).toEqual(['delivered']);
  });

  it('ends after a grace, and leaves what is still under way to the next start', async () => {
    const held = new HeldSend();
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    const ended = run({ send: held.send, stopGraceMs: 1 });
    await waitFor(() => held.begun.length === 1);
    stop.abort();
    await ended;
    expect(await statuses(id)).toEqual(['pending']);
    hooks.clock.advanceMs(LEASE_MS);
    await hooks.dispatcher.drain();
    expect(await statuses(id)).toEqual(['delivered']);
  });

  it('goes on after a failure of the database', async () => {
    await hooks.makeEndpoint(receiver.url);
    await hooks.postgres.pool.query('alter table webhook_messages rename to mislaid');
    const metrics = createMetrics();
    run({}, metrics);
    await waitFor(async () =>
      /^tollgate_webhook_failures_total\{work="turn"\} 1$/m.test(await metrics.metrics()),
    );
    await hooks.postgres.pool.query('alter table mislaid rename to webhook_messages');
    await hooks.emit({});
    await waitFor(() => receiver.received.length === 1);
  });

  it('deletes old messages with their deliveries, and secrets that sign no more', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.at('POST', `${id}/rotate-secret`);
    await hooks.emit({});
    await hooks.dispatcher.drain();
    hooks.clock.advanceMs(30 * MS_PER_DAY);
    await hooks.emit({ type: 'new' });
    hooks.clock.advanceMs(1);
    run();
    await waitFor(async () => {
      const { rows } = await hooks.postgres.pool.query('select previous_secret from webhook_endpoints');
      const types = (await hooks.deliveries(id)).map(({ type }) => type);
      return types.join() === 'new' && rows[0].previous_secret === null;
    });
  });

  it('measures its attempts and what waits', async () => {
    const refused = await startReceiver(() => 500);
    await hooks.makeEndpoint(receiver.url);
    await hooks.makeEndpoint(refused.url);
    await hooks.emit({});
    const attempts = async (outcome: string) => {
      const line = new RegExp(`^tollgate_webhook_attempts_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm');
      return Number(line.exec(await hooks.metrics.metrics())?.[1] ?? 0);
    };
    const [delivered, rejected] = [await attempts('delivered'), await attempts('rejected')];
    await hooks.dispatcher.drain();
    expect([await attempts('delivered'), await attempts('rejected')]).toEqual([delivered + 1, rejected + 1]);
    running.push(hooks.dispatcher.run(stop.signal));
    await waitFor(async () => /^tollgate_webhook_deliveries_pending 1$/m.test(await hooks.metrics.metrics()));
    await refused.close();
  });

  it('measures how long messages have waited to be fanned out', async () => {
    await hooks.emit({ atMs: hooks.clock.nowMs() - 7_000 });
    const { messages, oldestMessageAgeMs } = await readBacklog(hooks.postgres.db, hooks.clock.nowMs());
    expect([messages, oldestMessageAgeMs]).toEqual([1, 7_000]);
    await hooks.dispatcher.drain();
    expect(await readBacklog(hooks.postgres.db, hooks.clock.nowMs())).toEqual({
      ...{ messages: 0, oldestMessageAgeMs: 0, deliveries: 0, oldestDueAgeMs: 0 },
    });
  });
});

describe('an attempt whose process was killed', () => {
  it('is made again when its lease has ended, by one dispatcher', async () => {
    const held = new HeldSend();
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    void hooks.startDispatcher({ send: held.send }).drain();
    await waitFor(() => held.begun.length === 1);
    hooks.clock.advanceMs(LEASE_MS - 1);
    expect(await hooks.dispatcher.drain()).toBe(0);
    hooks.clock.advanceMs(1);
    expect(await hooks.dispatcher.drain()).toBe(1);
    expect(await hooks.deliveries(id)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  });

  it.each<[string, SendOutcome, object]>([
    ['a failure', { status: 500 }, { status: 'pending', attempts: 2, last_status: 503 }],
    ['a success', { status: 200 }, { status: 'delivered', attempts: 2, last_status: 200 }],
  ])('but was only slow: %s counts as it should', async (_kind, late, expected) => {
    const held = new HeldSend();
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    const slow = hooks.startDispatcher({ send: held.send }).drain();
    await waitFor(() => held.begun.length === 1);
    hooks.clock.advanceMs(LEASE_MS);
    const next = hooks.startDispatcher({ send: async () => ({ status: 503 }) });
    await next.drain();
    held.begun[0]?.end(late);
    await slow;
    expect(await hooks.deliveries(id)).toMatchObject([expected]);
  });

  it('takes no harm when the endpoint is deleted meanwhile', async () => {
    const held = new HeldSend();
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    const slow = hooks.startDispatcher({ send: held.send }).drain();
    await waitFor(() => held.begun.length === 1);
    await hooks.at('DELETE', id);
    held.begun[0]?.end({ status: 410 });
    expect(await slow).toBe(1);
  });

  it('does not disable an endpoint that has another URL by now', async () => {
    const held = new HeldSend();
    const { id } = await hooks.makeEndpoint(`${receiver.url}/old`);
    await hooks.emit({});
    const slow = hooks.startDispatcher({ send: held.send }).drain();
    await waitFor(() => held.begun.length === 1);
    await hooks.at('PUT', id, { url: receiver.url, event_types: ['*'] });
    held.begun[0]?.end({ status: 410 });
    await slow;
    expect((await hooks.at('GET', id)).json().status).toBe('enabled');
    expect(await statuses(id)).toEqual(['pending']);
  });
});

describe('several dispatchers', () => {
  it('share the work: each message is delivered once', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.makeEndpoint(`${receiver.url}/2`);
    for (let n = 0; n < 3; n++)
      await hooks.emit(...Array.from({ length: 30 }, (_, m) => ({ data: { n, m } })));
    const dispatchers = [1, 2, 3].map(() => hooks.startDispatcher());
    const attempts = await Promise.all(dispatchers.map((dispatcher) => dispatcher.drain()));
    while ((await hooks.dispatcher.drain()) > 0);
    const ids = (path: string) => receiver.received.filter((one) => one.path === path).length;
    expect([ids('/hook'), ids('/hook/2')]).toEqual([90, 90]);
    expect(new Set(receiver.ids()).size).toBe(90);
    expect(attempts.reduce((sum, each) => sum + each, 0)).toBe(180);
    expect(new Set(await statuses(id))).toEqual(new Set(['delivered']));
  });
});

describe('an endpoint that does not answer', () => {
  it('takes a few attempts at a time, and holds nobody up', async () => {
    const held = new HeldSend();
    const direct = createSender({ allowPrivate: true });
    const send: Send = (posting, signal) =>
      (posting.url.endsWith('/slow') ? held.send : direct)(posting, signal);
    const slow = await hooks.makeEndpoint(`${receiver.url}/slow`, ['slow', 'both']);
    const quick = await hooks.makeEndpoint(receiver.url, ['both']);
    await hooks.emit(...Array.from({ length: 100 }, () => ({ type: 'slow' })));
    await hooks.emit(...Array.from({ length: 40 }, () => ({ type: 'both' })));
    run({ send, attemptsMax: 6, attemptsPerEndpointMax: 4 });
    await waitFor(() => receiver.received.length === 40);
    await waitFor(() => held.begun.length === 4);
    await waitFor(async () => (await statuses(quick.id)).every((status) => status === 'delivered'));
    expect((await hooks.at('GET', `${slow.id}/deliveries?status=pending`)).json().total_count).toBe(140);
    held.begun[0]?.end({ status: 200 });
    await waitFor(() => held.begun.length === 5);
    stop.abort();
    for (const { end } of held.begun) end({ status: 200 });
  });

  it('leaves room for other tenants, however many of them its tenant has', async () => {
    const held = new HeldSend();
    const send: Send = (posting, signal) =>
      posting.url.includes('/slow') ? held.send(posting, signal) : Promise.resolve({ status: 200 });
    for (let n = 0; n < 12; n++) await hooks.makeEndpoint(`${receiver.url}/slow/${n}`);
    await hooks.emit({}, {}, {});
    run({ send, attemptsMax: 8 });
    await waitFor(() => held.begun.length >= 6);
    const tenantId = await hooks.makeTenant();
    const projectId = await hooks.makeProject(tenantId);
    const url = `/v1/projects/${projectId}/webhook-endpoints`;
    const { id } = (await hooks.call('POST', url, { url: receiver.url, event_types: ['*'] })).json();
    await hooks.emit({ tenantId, projectId });
    await waitFor(async () => {
      const { deliveries } = (await hooks.call('GET', `${url}/${id}/deliveries`)).json();
      return deliveries[0]?.status === 'delivered';
    });
    expect(held.begun).toHaveLength(6);
    stop.abort();
    for (const { end } of held.begun) end({ status: 200 });
  });

  it('is reported as one that timed out', async () => {
    const silent = await startReceiver(() => undefined);
    const { id } = await hooks.makeEndpoint(silent.url);
    await hooks.emit({});
    await hooks.startDispatcher({ send: createSender({ allowPrivate: true, timeoutMs: 50 }) }).drain();
    expect(await hooks.deliveries(id)).toMatchObject([{ status: 'pending', last_error: 'timeout' }]);
    await silent.close();
  });
});

describe('an endpoint at an internal address', () => {
  it('that was taken while that was allowed gets nothing once it is not', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({});
    await hooks.startDispatcher({ send: createSender({ allowPrivate: false }) }).drain();
    expect(await hooks.deliveries(id)).toMatchObject([{ status: 'pending', last_error: 'address_refused' }]);
    expect(receiver.connections).toBe(0);
  });
});
