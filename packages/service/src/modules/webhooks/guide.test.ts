import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WEBHOOK_ENDPOINTS_MAX, WEBHOOK_KEPT_DAYS, WEBHOOK_TIMEOUT_MS } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGuide } from '../../testing/guide.js';
import { type Received, startReceiver } from '../../testing/receiver.js';
import { FAILING_DAYS_MAX } from './delivery-decision.js';
import { RETRY_PAUSES_MS } from './retry.js';
import { createTestWebhooks, type TestWebhooks } from './webhooks.testing.js';

type Verify = (headers: Received['headers'], body: string, secret: string, nowS?: number) => boolean;

const guide = readGuide('webhooks');
const plain = guide.text.replace(/\s+/g, ' ');

let hooks: TestWebhooks;
let folder: string;
let verify: Verify;

beforeAll(async () => {
  hooks = await createTestWebhooks();
  folder = await mkdtemp(join(tmpdir(), 'tollgate-webhooks-'));
  const file = join(folder, 'verify.mjs');
  await writeFile(file, guide.blocks('js verify')[0] as string);
  verify = (await import(/* @vite-ignore */ pathToFileURL(file).href)).isFromTollgate;
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await hooks.close();
});

describe('the guide to webhooks', () => {
  it('creates an endpoint', async () => {
    const created = await hooks.call('POST', hooks.url, guide.blocks('json endpoint')[0] as string);
    expect(created.status).toBe(201);
    await hooks.clear();
  });

  it('verifies what is sent, also while two secrets sign', async () => {
    const receiver = await startReceiver();
    const { id, secret: previous } = await hooks.makeEndpoint(receiver.url);
    const { secret } = (await hooks.at('POST', `${id}/rotate-secret`)).json();
    await hooks.emit({ data: { note: 'ü' } });
    await hooks.dispatcher.drain();
    await receiver.close();
    const [received] = receiver.received;
    if (received === undefined) throw new Error('nothing was received');
    const { headers, body } = received;
    const nowS = hooks.clock.nowMs() / 1_000;
    for (const each of [secret, previous]) expect(verify(headers, body, each, nowS)).toBe(true);
    expect(verify(headers, body, `whsec_${Buffer.alloc(32).toString('base64')}`, nowS)).toBe(false);
    expect(verify(headers, `${body} `, secret, nowS)).toBe(false);
    expect(verify({ ...headers, 'webhook-id': 'msg_other' }, body, secret, nowS)).toBe(false);
    for (const shiftS of [-301, 301]) expect(verify(headers, body, secret, nowS + shiftS)).toBe(false);
    for (const signature of [
      '',
      'v1,',
      `v1,${'ü'.repeat(44)}`,
      `${headers['webhook-signature']}`.replace(/v1/g, 'v2'),
    ]) {
      expect(verify({ ...headers, 'webhook-signature': signature }, body, secret, nowS)).toBe(false);
    }
    expect(verify({}, body, secret, nowS)).toBe(false);
  });

  it('gives the figures that are in force', () => {
    const [seconds, ...rest] = RETRY_PAUSES_MS.map((pauseMs) => pauseMs / 1_000);
    const minutes = rest.filter((pauseS) => pauseS < 3_600).map((pauseS) => pauseS / 60);
    const hours = rest.filter((pauseS) => pauseS >= 3_600).map((pauseS) => pauseS / 3_600);
    const listed = (values: number[]) => `${values.slice(0, -1).join(', ')} and ${values.at(-1)}`;
    expect(plain).toContain(
      `after about ${seconds} seconds, ${listed(minutes)} minutes, ${listed(hours)} hours: for three days`,
    );
    expect(plain).toContain(`up to ${WEBHOOK_ENDPOINTS_MAX} endpoints`);
    expect(plain).toContain(`kept for ${WEBHOOK_KEPT_DAYS} days`);
    expect([FAILING_DAYS_MAX, WEBHOOK_TIMEOUT_MS]).toEqual([5, 5_000]);
  });
});
