import { afterEach, describe, expect, it } from 'vitest';
import { TollgateClient } from './client.js';
import type { ProjectClient } from './project-client.js';
import type { Corrections } from './resources/corrections.js';
import { type Answer, type Received, startTestServer, type TestServer } from './testing/server.js';

let server: TestServer | undefined;
afterEach(() => server?.close());

async function correctionsOf(answer: (request: Received) => Answer) {
  server = await startTestServer(answer);
  const project: ProjectClient = new TollgateClient({ baseUrl: server.url, apiKey: 'key' }).project('prj_1');
  return { corrections: project.corrections, received: server.received };
}

describe('corrections', () => {
  const reason = 'Sent twice';
  const calls: [string, string, (corrections: Corrections) => Promise<unknown>][] = [
    ['POST /usage/events/evt_1/void', '{"reason":"Sent twice"}', (c) => c.voidEvent('evt_1', { reason })],
    [
      'POST /usage/events/evt_1/replace',
      '{"raw_json":{"tokens":2},"reason":"Sent twice"}',
      (c) => c.replaceEvent('evt_1', { raw_json: { tokens: 2 }, reason }),
    ],
    [
      'POST /usage/events/evt_1/replace',
      '{"raw_json":{"tokens":12345678901234567890},"reason":"x"}',
      (c) => c.replaceEventText('evt_1', '{"raw_json":{"tokens":12345678901234567890},"reason":"x"}'),
    ],
    [
      'POST /usage/corrections',
      '{"action":"void","filter":{"from":1,"to":2},"reason":"Sent twice","dry_run":true}',
      (c) => c.create({ action: 'void', filter: { from: 1, to: 2 }, reason, dry_run: true }),
    ],
    [
      'GET /usage/corrections?status=planned&raw_event_id=evt_1&limit=5',
      '',
      (c) => c.list({ status: 'planned', raw_event_id: 'evt_1', limit: 5 }),
    ],
    ['GET /usage/corrections/cor_1', '', (c) => c.get('cor_1')],
    ['POST /usage/corrections/cor_1/apply', '', (c) => c.apply('cor_1')],
    [
      'POST /usage/corrections/cor_1/apply',
      '{"counters":"current","reason":"Sent twice"}',
      (c) => c.apply('cor_1', { counters: 'current', reason }),
    ],
    ['POST /usage/corrections/cor_1/revert', '', (c) => c.revert('cor_1')],
    ['POST /usage/corrections/cor_1/revert', '{"reason":"Sent twice"}', (c) => c.revert('cor_1', { reason })],
    ['DELETE /usage/corrections/cor_1', '', (c) => c.delete('cor_1')],
    ['DELETE /usage/corrections/cor_1?reason=Sent+twice', '', (c) => c.delete('cor_1', { reason })],
  ];

  it.each(calls)('%s', async (expected, body, call) => {
    const { corrections, received } = await correctionsOf(() => ({ status: 202, body: { id: 'cor_1' } }));
    expect(await call(corrections)).toEqual({ id: 'cor_1' });
    const [request] = received;
    expect(`${request?.method} ${request?.url}`).toBe(expected.replace(' ', ' /v1/projects/prj_1'));
    expect(request?.body).toBe(body);
    expect(request?.headers['idempotency-key']).toBeUndefined();
  });

  it('sends every write with the key of its caller', async () => {
    const { corrections, received } = await correctionsOf(() => ({ status: 202, body: {} }));
    const key = { idempotencyKey: 'k' };
    await corrections.voidEvent('evt_1', { reason }, key);
    await corrections.replaceEvent('evt_1', { raw_json: {}, reason }, key);
    await corrections.create({ action: 'void', filter: { from: 1, to: 2 }, reason }, key);
    await corrections.apply('cor_1', key);
    await corrections.revert('cor_1', key);
    await corrections.delete('cor_1', key);
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(6).fill('k'));
  });

  it('walks through every page', async () => {
    const { corrections, received } = await correctionsOf(({ url }) => {
      const isFirst = url.endsWith('offset=0');
      return {
        status: 200,
        body: { corrections: isFirst ? [{ id: 'a' }] : [{ id: 'b' }], total_count: 101 },
      };
    });
    const found: string[] = [];
    for await (const { id } of corrections.all({ status: 'applied' })) found.push(id);
    expect(found).toEqual(['a', 'b']);
    expect(received.map(({ url }) => url.split('?')[1])).toEqual([
      'status=applied&limit=100&offset=0',
      'status=applied&limit=100&offset=100',
    ]);
  });

  it.each(['planned', 'applied', 'reverted', 'stale', 'failed', 'expired'])(
    'waits until a correction is %s',
    async (end) => {
      const statuses = ['planning', 'applying', 'reverting', end];
      const { corrections, received } = await correctionsOf(() => ({
        status: 200,
        body: { status: statuses.shift() },
      }));
      expect((await corrections.untilEnded('cor_1', { lookMs: 1 })).status).toBe(end);
      expect(received).toHaveLength(4);
    },
  );

  it('stops waiting when its signal aborts', async () => {
    const controller = new AbortController();
    const { corrections } = await correctionsOf(() => ({ status: 200, body: { status: 'planning' } }));
    const waiting = corrections.untilEnded('cor_1', { lookMs: 3_600_000, signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});
