import { createHmac } from 'node:crypto';
import { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { isSigned, signatureHeader } from './signature.js';

const NOW_S = 1_790_000_000;
const SECRET = 'whsec_one';
const body = Buffer.from('{"type":"x","text":"ä\\u0000"}\n');
const hex = (secret: string, text: string | Buffer, t: string | number = NOW_S) =>
  createHmac('sha256', secret).update(`${t}.`).update(text).digest('hex');
const good = hex(SECRET, body);

const check = (header: string | undefined, secrets = [SECRET], of = body) =>
  isSigned({ header, body: of }, secrets, NOW_S);

describe('a signature', () => {
  it.each([
    ['alone', `t=${NOW_S},v1=${good}`],
    [
      'among others of the scheme',
      `t=${NOW_S},v1=${hex('whsec_other', body)},v1=${good},v1=${'0'.repeat(64)}`,
    ],
    ['among other schemes', `t=${NOW_S},v0=${hex('x', body)},v1=${good},v9=abc`],
    ['before the time', `v1=${good},t=${NOW_S}`],
  ])('is accepted %s', (_where, header) => {
    expect(check(header)).toBe(true);
  });

  it('may be by any of several secrets', () => {
    expect(check(`t=${NOW_S},v1=${good}`, ['whsec_new', SECRET])).toBe(true);
    expect(check(`t=${NOW_S},v1=${good}`, ['whsec_new', 'whsec_newer'])).toBe(false);
    expect(check(`t=${NOW_S},v1=${good}`, [])).toBe(false);
  });

  it.each([-300, -299, -1, 0, 1, 299, 300])('that is %i s away is accepted', (skewS) => {
    expect(check(signatureHeader(body, SECRET, NOW_S + skewS))).toBe(true);
  });

  it.each([-100_000, -301, 301, 100_000])('that is %i s away is refused', (skewS) => {
    expect(check(signatureHeader(body, SECRET, NOW_S + skewS))).toBe(false);
  });

  it.each<[what: string, header: string | undefined, of?: Buffer<ArrayBuffer>]>([
    ['none', undefined],
    ['an empty one', ''],
    ['one without a digest', `t=${NOW_S}`],
    ['one without a time', `v1=${good}`],
    ['another secret', `t=${NOW_S},v1=${hex('whsec_two', body)}`],
    ['the secret without its prefix', `t=${NOW_S},v1=${hex('one', body)}`],
    ['an empty secret', `t=${NOW_S},v1=${hex('', body)}`],
    ['another body', `t=${NOW_S},v1=${hex(SECRET, Buffer.concat([body, Buffer.from(' ')]))}`],
    ['the body without the time', `t=${NOW_S},v1=${createHmac('sha256', SECRET).update(body).digest('hex')}`],
    ['another time', `t=${NOW_S},v1=${hex(SECRET, body, NOW_S - 1)}`],
    ['a changed time', `t=${NOW_S + 1},v1=${good}`],
    ['one wrong digit', `t=${NOW_S},v1=${good.slice(0, 63)}${good.endsWith('0') ? 1 : 0}`],
    ['upper case', `t=${NOW_S},v1=${good.toUpperCase()}`],
    ['base64', `t=${NOW_S},v1=${Buffer.from(good, 'hex').toString('base64')}`],
    ['a part of the digest', `t=${NOW_S},v1=${good.slice(0, 32)}`],
    ['more than the digest', `t=${NOW_S},v1=${good}00`],
    ['another scheme', `t=${NOW_S},v0=${good}`],
    ['two times', `t=${NOW_S},t=${NOW_S},v1=${good}`],
    ['a fraction of a second', `t=${NOW_S}.0,v1=${hex(SECRET, body, `${NOW_S}.0`)}`],
    ['a signed number', `t=+${NOW_S},v1=${hex(SECRET, body, `+${NOW_S}`)}`],
    ['hexadecimal time', `t=0x6ab13b80,v1=${hex(SECRET, body, '0x6ab13b80')}`],
    ['no number', `t=now,v1=${hex(SECRET, body, 'now')}`],
    ['spaces between', `t=${NOW_S}, v1=${good}`],
    ['other separators', `t=${NOW_S};v1=${good}`],
    ['the digest alone', good],
    ['an empty body', `t=${NOW_S},v1=${good}`, Buffer.alloc(0)],
    ['a body of the same text in other bytes', `t=${NOW_S},v1=${good}`, Buffer.from(body.toString('latin1'))],
  ])('is refused: %s', (_what, header, of) => {
    expect(check(header, [SECRET], of)).toBe(false);
  });

  it("is what Stripe's own library makes, and takes", () => {
    const payload = body.toString();
    const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp: NOW_S });
    expect(check(header)).toBe(true);
    const ours = signatureHeader(body, SECRET, NOW_S);
    const event = Stripe.webhooks.constructEvent(body, ours, SECRET, 300, undefined, NOW_S * 1_000);
    expect(event.type).toBe('x');
  });
});
