import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Upper bound of the difference between the time of a signature and our clock, in both directions. */
export const SIGNATURE_SKEW_S_MAX = 300;

const SECRET_BYTES = 32;

/** Seconds as they are signed: no sign, no fraction, no leading space. */
const TIMESTAMP = /^\d{1,12}$/;
const DIGEST = /^[0-9a-f]{64}$/;

export interface SignedBody {
  /** The header: `t=<Unix seconds>,v1=<hex>`. It may contain several `v1`, and other schemes, which are ignored. */
  readonly header: string | undefined;
  /** The bytes as they were received. */
  readonly body: Buffer;
}

/**
 * Whether one of the secrets has signed the body recently. The scheme is Stripe's: HMAC-SHA256 over the time, a dot and
 * the body, https://docs.stripe.com/webhooks#verify-manually.
 *
 * @param nowS Unix seconds
 */
export function isSigned({ header, body }: SignedBody, secrets: readonly string[], nowS: number): boolean {
  const signature = parseHeader(header);
  if (signature === undefined) return false;
  const { timestamp, digests } = signature;
  // Every secret is compared with every digest, so that the time taken reveals nothing about either.
  let matches = 0;
  for (const secret of secrets) {
    const expected = digestOf(timestamp, body, secret);
    for (const digest of digests) matches += timingSafeEqual(expected, digest) ? 1 : 0;
  }
  return matches > 0 && Math.abs(nowS - Number(timestamp)) <= SIGNATURE_SKEW_S_MAX;
}

/** Returns a key or secret that cannot be guessed, in base64url. */
export function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Returns the header for a body that is sent now. */
export function signatureHeader(body: Buffer, secret: string, nowS: number): string {
  return `t=${nowS},v1=${digestOf(String(nowS), body, secret).toString('hex')}`;
}

function digestOf(timestamp: string, body: Buffer, secret: string): Buffer {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
}

function parseHeader(header: string | undefined) {
  let timestamp: string | undefined;
  const digests: Buffer[] = [];
  for (const part of header?.split(',') ?? []) {
    const [, name, value = ''] = /^([a-z0-9]+)=(.*)$/s.exec(part) ?? [];
    if (name === 't') {
      // With a second time it would be unclear which one was signed.
      if (timestamp !== undefined || !TIMESTAMP.test(value)) return undefined;
      timestamp = value;
    } else if (name === 'v1' && DIGEST.test(value)) {
      digests.push(Buffer.from(value, 'hex'));
    }
  }
  return timestamp === undefined ? undefined : { timestamp, digests };
}
