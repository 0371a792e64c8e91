import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookPayload } from '#contract';
import { systemTiming } from './clock.js';

/** Headers of a request, by lower-case name, as Node.js gives them; or those of a `fetch` Request. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /**
   * Seconds by which `webhook-timestamp` may differ from now, in both directions; an old, recorded message is refused.
   */
  readonly toleranceS?: number;
  /** Milliseconds since the Unix epoch. */
  readonly nowMs?: () => number;
}

/** A message with a valid signature. */
export interface VerifiedWebhook extends WebhookPayload {
  /** `webhook-id`: the same in every attempt, so that a message that arrives twice can be recognised. */
  readonly id: string;
}

/** The message was not signed with this secret, or its timestamp is too old or too new. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

const TOLERANCE_S_DEFAULT = 300;
const SECRET_PREFIX = 'whsec_';
const VERSION_PREFIX = 'v1,';

/**
 * Checks that a message comes from Tollgate, as https://www.standardwebhooks.com specifies: one of the signatures is
 * `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. The HMAC key is the secret's base64 part after
 * `whsec_`.
 *
 * @param secret of the endpoint, `whsec_…`
 * @param body as it arrived, before it is parsed
 * @throws WebhookVerificationError for every other message
 */
export function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceS = TOLERANCE_S_DEFAULT, nowMs = systemTiming.nowMs }: VerifyOptions = {},
): VerifiedWebhook {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp) || !(Math.abs(nowMs() / 1_000 - Number(timestamp)) <= toleranceS)) {
    throw new WebhookVerificationError('webhook-timestamp is too old or too new');
  }
  const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const expected = Buffer.from(VERSION_PREFIX + mac);
  // While a secret is being rotated there are two signatures.
  if (!signatures.some((signature) => isSame(expected, Buffer.from(signature)))) {
    throw new WebhookVerificationError('no signature in webhook-signature is valid');
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  return { ...(JSON.parse(text) as WebhookPayload), id };
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`${name} is missing`);
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64');
  // An empty key would sign messages too, and everybody has it.
  if (key.length === 0) throw new TypeError('the secret is empty');
  return key;
}

/** Compares in constant time. */
function isSame(expected: Buffer, sent: Buffer): boolean {
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}
