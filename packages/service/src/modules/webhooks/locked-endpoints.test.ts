import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../../testing/index.js';
import { type Receiver, startReceiver } from '../../testing/receiver.js';
import { createTestWebhooks, type TestWebhooks } from './webhooks.testing.js';

let hooks: TestWebhooks;
let receiver: Receiver;
/** Ends the transactions that have not ended. */
const open = new Set<() => Promise<void>>();

beforeAll(async () => {
  hooks = await createTestWebhooks();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const end of open) await end();
  await receiver.close();
  await hooks.clear();
});
afterAll(() => hooks.close());

/** Begins a transaction that changes one row; the returned function commits it. */
async function change(statement: string, ...values: unknown[]): Promise<() => Promise<void>> {
  const client = await hooks.postgres.pool.connect();
  const end = async () => {
    if (!open.delete(end)) return;
    await client.query('commit');
    client.release();
  };
  open.add(end);
  await client.query('begin');
  expect((await client.query(statement, values)).rowCount).toBe(1);
  return end;
}

describe('an endpoint that another transaction changes', () => {
  it('delays its own messages, and neither those of other endpoints nor those of other tenants', async () => {
    const { id } = await hooks.makeEndpoint(`${receiver.url}/changed`, ['a', 'b']);
    await hooks.makeEndpoint(`${receiver.url}/own`, ['b', 'c']);
    const tenantId = await hooks.makeTenant();
    const projectId = await hooks.makeProject(tenantId);
    const url = `${receiver.url}/other`;
    await hooks.call('POST', `/v1/projects/${projectId}/webhook-endpoints`, { url, event_types: ['*'] });
    const unlock = await change('select from webhook_endpoints where id = $1 for update', id);
    await hooks.emit({ type: 'a' }, { type: 'b' }, { type: 'c' }, { tenantId, projectId, type: 'a' });
    await hooks.dispatcher.drain();
    const paths = () => receiver.received.map(({ path }) => path).sort();
    expect(paths()).toEqual(['/hook/other', '/hook/own']);
    await unlock();
    await hooks.dispatcher.drain();
    expect(paths()).toEqual(['/hook/changed', '/hook/changed', '/hook/other', '/hook/own', '/hook/own']);
  });

  it('gets no message once it is disabled or has other events', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url, ['a']);
    const commit = await change(`update webhook_endpoints set event_types = '{b}' where id = $1`, id);
    await hooks.emit({ type: 'a' });
    await hooks.dispatcher.drain();
    await commit();
    await hooks.dispatcher.drain();
    const { rows } = await hooks.postgres.pool.query(
      'select fanned_out_at_ms is not null as done from webhook_messages',
    );
    expect([rows, receiver.received]).toEqual([[{ done: true }], []]);
  });
});

describe('an endpoint that is deleted', () => {
  it('is locked only when nearly all its deliveries are gone', async () => {
    const { id } = await hooks.makeEndpoint(receiver.url);
    await hooks.emit({}, {}, {}, {});
    await hooks.dispatcher.drain();
    const [last] = await hooks.deliveries(id);
    const unlock = await change(
      'select from webhook_deliveries where message_id = $1 for update',
      last.message_id,
    );
    const deleted = hooks.at('DELETE', id);
    await waitFor(async () => {
      const { rows } = await hooks.postgres.pool.query('select message_id from webhook_deliveries');
      return rows.length === 1 && rows[0].message_id === last.message_id;
    });
    await unlock();
    expect((await deleted).status).toBe(204);
    const { rows } = await hooks.postgres.pool.query('select from webhook_deliveries');
    expect(rows).toEqual([]);
  });
});
