/** Code that verifies a message with the SDK. */
export const SDK_CODE = `import { verifyWebhook } from '@tollgate/sdk';

// \`body\` is the raw request body. Throws if the signature is invalid or the timestamp is too far off.
const { id, type, data } = verifyWebhook(process.env.WEBHOOK_SECRET, request.headers, body);`;

/** The same without a library; the webhooks guide shows the same code. */
export const PLAIN_CODE = `import { createHmac, timingSafeEqual } from 'node:crypto';

export function isFromTollgate(headers, body, secret, nowS = Date.now() / 1000) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(nowS - Number(timestamp)) <= 300)) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const digest = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\${body}\`).digest('base64');
  const expected = Buffer.from(\`v1,\${digest}\`);
  const sent = signatures.split(' ').map((signature) => Buffer.from(signature, 'latin1'));
  return sent.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
}`;
