import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyWebhook, type WebhookHeaders, WebhookVerificationError } from './webhook-signature.js';

/** The example of the Standard Webhooks libraries. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"test": 2432232314}';
const SENT_S = 1_614_265_330;
const HEADERS = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': String(SENT_S),
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

const verify = (headers: WebhookHeaders = HEADERS, body: string | Uint8Array = BODY, atS = SENT_S) =>
  verifyWebhook(SECRET, headers, body, { nowMs: () => atS * 1_000 });

describe('a message', () => {
  it('is verified as the specification says, and read', () => {
    expect(verify()).toEqual({ test: 2_432_232_314, id: HEADERS['webhook-id'] });
  });

  it('is verified from the bytes that came, and from the headers of a fetch request', () => {
    expect(verify(new Headers(HEADERS), new TextEncoder().encode(BODY))).toEqual(verify());
  });

  it('is verified while two secrets sign, and among signatures of other kinds', () => {
    const signature = `v1a,xyz v1,AAAA ${HEADERS['webhook-signature']} v2,${'A'.repeat(44)}`;
    expect(verify({ ...HEADERS, 'webhook-signature': signature })).toEqual(verify());
  });

  it('with text in many scripts is verified by its bytes', () => {
    const body = '{"data":"ü 🦜"}';
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    const mac = createHmac('sha256', key).update(`m.${SENT_S}.${body}`).digest('base64');
    const headers = { 'webhook-id': 'm', 'webhook-timestamp': `${SENT_S}`, 'webhook-signature': `v1,${mac}` };
    expect(verify(headers, Buffer.from(body))).toEqual({ id: 'm', data: 'ü 🦜' });
  });

  it.each([-300, -1, 0, 300])('is accepted %i seconds off', (offS) => {
    expect(verify(HEADERS, BODY, SENT_S + offS)).toBeDefined();
  });
});

describe('refused', () => {
  const refused = (...call: Parameters<typeof verify>) =>
    expect(() => verify(...call)).toThrow(WebhookVerificationError);

  it.each([-301, 301, 1e9])('%i seconds off', (offS) => refused(HEADERS, BODY, SENT_S + offS));

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s', (name) => {
    refused({ ...HEADERS, [name]: undefined });
    refused({ ...HEADERS, [name]: '' });
    refused({ ...HEADERS, [name]: [HEADERS['webhook-id']] });
  });

  it.each(['NaN', '-1', '1e9', ` ${SENT_S}`, `${SENT_S}.0`, 'Infinity'])('with the time %j', (timestamp) => {
    refused({ ...HEADERS, 'webhook-timestamp': timestamp });
  });

  it.each([
    'v1,',
    'v1',
    HEADERS['webhook-signature'].replace('v1', 'v2'),
    HEADERS['webhook-signature'].slice(0, -1),
    HEADERS['webhook-signature'].replace('g0h', 'G0h'),
    `v1,${'ü'.repeat(44)}`,
    HEADERS['webhook-signature'].slice(3),
  ])('with the signature %j', (signature) => refused({ ...HEADERS, 'webhook-signature': signature }));

  it('when anything that is signed is another', () => {
    refused(HEADERS, `${BODY} `);
    refused({ ...HEADERS, 'webhook-id': 'msg_other' });
    refused({ ...HEADERS, 'webhook-timestamp': String(SENT_S + 1) });
    const other = `whsec_${Buffer.alloc(24).toString('base64')}`;
    expect(() => verifyWebhook(other, HEADERS, BODY, { nowMs: () => SENT_S * 1_000 })).toThrow(
      WebhookVerificationError,
    );
  });

  it.each(['', 'whsec_'])('with the secret %j, by which everybody could sign', (secret) => {
    expect(() => verifyWebhook(secret, HEADERS, BODY, { nowMs: () => SENT_S * 1_000 })).toThrow(TypeError);
  });

  it('when it is old by the clock of the machine', () => {
    expect(() => verifyWebhook(SECRET, HEADERS, BODY)).toThrow('too old or too new');
    expect(verifyWebhook(SECRET, HEADERS, BODY, { toleranceS: 1e10 })).toBeDefined();
  });
});
