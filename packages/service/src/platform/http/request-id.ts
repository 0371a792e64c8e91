import { randomBytes } from 'node:crypto';

/** An incoming id is kept when it is plain and short, so that it cannot forge log lines or headers. */
const PLAIN_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns a generator of request ids: a random prefix and a counter, far cheaper than a random id per request. */
export function requestIds(): (incoming: string | string[] | undefined) => string {
  const prefix = randomBytes(9).toString('base64url');
  let count = 0;
  return (incoming) => {
    if (typeof incoming === 'string' && PLAIN_ID.test(incoming)) return incoming;
    count += 1;
    return `req_${prefix}.${count.toString(36)}`;
  };
}
