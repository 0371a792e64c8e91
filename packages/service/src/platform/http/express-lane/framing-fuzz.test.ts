import type { Socket } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Wire, type WireAnswer } from '../../../testing/both-ways.js';
import { ExpressFixture } from '../../../testing/express-fixture.js';
import { propertyRuns } from '../../../testing/property-runs.js';

const { PATH, GOOD, BODY_LIMIT } = ExpressFixture;
const ANSWER = '{"taken":true}';

/** Two services that differ in one setting. */
let on: ExpressFixture;
let off: ExpressFixture;
beforeAll(async () => {
  on = await ExpressFixture.start({ expressLane: true });
  off = await ExpressFixture.start({ expressLane: false });
});
afterAll(async () => {
  await on.stop();
  await off.stop();
});

/** Bytes, and the places where they are cut into packets. */
interface Sent {
  readonly text: string;
  readonly cuts: readonly number[];
  /** Whether the operation returns its answer late, so that later bytes have arrived by then. */
  readonly isSlow: boolean;
}

/** Completes any request that has partly arrived, and is not a request itself: the connection is closed after it. */
const JUNK = `\r\n\r\n${'!'.repeat(BODY_LIMIT)}\r\n\r\n`;

const later = <Value>(value: Value) =>
  new Promise<Value>((resolve) => {
    setImmediate(() => resolve(value));
  });

/** Returns everything that a client and the operation get until the connection is closed. */
async function outcome(fixture: ExpressFixture, { text, cuts, isSlow }: Sent) {
  fixture.answered.length = 0;
  fixture.answer = async () => (isSlow ? later(ANSWER) : ANSWER);
  const connection = fixture.nextConnection();
  const wire = await Wire.open(fixture.ways.express);
  const bytes = Buffer.from(text + JUNK, 'latin1');
  let at = 0;
  for (const cut of [...new Set(cuts)].sort((a, b) => a - b)) {
    if (cut <= at || cut > text.length) continue;
    await wire.write(bytes.subarray(at, cut));
    at = cut;
    await received(connection, at);
  }
  await wire.write(bytes.subarray(at));
  await wire.closed();
  const answers: WireAnswer[] = [];
  for (let next = await wire.answer(); next !== undefined; next = await wire.answer()) {
    answers.push({ ...next, requestId: undefined });
  }
  return { answers, bodies: fixture.answered.map(({ rawBody }) => rawBody.toString('latin1')) };
}

/** Returns when the server has read this many bytes, or needs no more, so that each packet is read by itself. */
async function received(connection: () => Socket | undefined, byteCount: number): Promise<void> {
  for (;;) {
    const socket = connection();
    if (socket !== undefined && (socket.bytesRead >= byteCount || socket.destroyed)) return;
    await later(undefined);
  }
}

async function expectSame(sent: Sent) {
  const withLane = await outcome(on, sent);
  expect(withLane).toEqual(await outcome(off, sent));
  return withLane;
}

const head = (line: string, ...fields: string[]) =>
  [
    line,
    'Host: x',
    'Authorization: Bearer service',
    'Content-Type: application/json',
    ...fields,
    '',
    '',
  ].join('\r\n');
const LINE = `POST ${PATH} HTTP/1.1`;
const LENGTH = `Content-Length: ${GOOD.length}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const PLAIN = head(LINE, LENGTH) + GOOD;

describe('a request that is cut into two packets at every byte', () => {
  test.each<[string, string, number]>([
    ['plain', PLAIN, 1],
    ['chunked', `${head(LINE, CHUNKED)}5\r\n{"rea\r\n8;x=y\r\nding":1}\r\n0\r\nTrailer: x\r\n\r\n`, 1],
    ['to an absolute target', head(`POST http://x${PATH} HTTP/1.1`, LENGTH) + GOOD, 1],
    ['with a field twice', head(LINE, LENGTH, 'Accept: a', 'Accept: b') + GOOD, 1],
    ['followed by another at once', PLAIN + PLAIN, 2],
  ])('%s', async (_what, text, accepted) => {
    for (let cut = 1; cut <= text.length; cut += 1) {
      const { answers, bodies } = await expectSame({ text, cuts: [cut, text.length], isSlow: cut % 2 === 0 });
      expect(bodies).toEqual(Array(accepted).fill(GOOD));
      expect(answers.slice(0, accepted).map(({ status }) => status)).toEqual(Array(accepted).fill(202));
    }
  });

  test('and at all of them', async () => {
    const cuts = Array.from({ length: PLAIN.length }, (_, index) => index + 1);
    const before = on.seenByFastify;
    const { bodies } = await expectSame({ text: PLAIN, cuts, isSlow: false });
    expect(bodies).toEqual([GOOD]);
    // The lane has served it, and this file compares two ways.
    expect(on.seenByFastify).toBe(before);
  });
});

const mostly = <Value>(usual: Value, ...others: Value[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const target = mostly(
  PATH,
  `http://x${PATH}`,
  `http://x:80${PATH}`,
  `HTTP://x${PATH}`,
  `https://x${PATH}`,
  `http://y${PATH}?a=b`,
  'http://x',
  `//x${PATH}`,
  `x${PATH}`,
  `${PATH}#a`,
  `${PATH}?a=b`,
  `${PATH}/`,
  PATH.replace('/v1', '/v1/.'),
  PATH.replace('/v1', '/%761'),
  PATH.replace('m-1', 'm%2d1'),
  PATH.replace('m-1', 'm'.repeat(9_000)),
  '*',
  'x:443',
);
const line = fc
  .tuple(mostly('POST', 'PUT', 'OPTIONS', 'PRI', 'post'), target, mostly('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0'))
  .map((parts) => parts.join(' '));

const chunk = fc
  .tuple(
    fc.constantFrom(GOOD, GOOD.slice(0, 5), '', 'x'.repeat(17)),
    mostly('', ';a=b', ';a="b;c"', ' ', ';', '\t;x'),
    fc.constantFrom<(size: number) => string>(
      (size) => size.toString(16),
      (size) => size.toString(16).toUpperCase(),
      (size) => `000${size.toString(16)}`,
      (size) => (size + 1).toString(16),
      (size) => `-${size}`,
      (size) => `0x${size.toString(16)}`,
      () => 'fffffffffffffffff',
      () => 'g',
    ),
    mostly('\r\n', '\n', ''),
  )
  .map(([data, extension, size, end]) => `${size(data.length)}${extension}\r\n${data}${end}`);
const chunkedBody = fc
  .tuple(
    fc.oneof(
      fc.constant(`d\r\n${GOOD}\r\n`),
      fc.constant(`D;a=b\r\n${GOOD}\r\n`),
      fc.array(chunk, { maxLength: 3 }).map((chunks) => chunks.join('')),
    ),
    mostly(
      '0\r\n\r\n',
      '0\r\nX: y\r\n\r\n',
      '0\r\nContent-Length: 3\r\n\r\n',
      '0\r\n',
      '00\r\n\r\n',
      '0\n\n',
      '',
    ),
  )
  .map((parts) => parts.join(''));

/** Headers beyond the required ones: a second one of any kind, or so many that the head is refused. */
const fields = fc.oneof(
  { weight: 6, arbitrary: fc.constant<string[]>([]) },
  {
    weight: 4,
    arbitrary: fc.array(
      fc.constantFrom(
        'Host: x',
        'Host: y',
        'Authorization: Bearer service',
        'Authorization: Bearer x',
        'Content-Type: application/json',
        'Content-Type: text/plain',
        LENGTH,
        'Content-Length: 14',
        CHUNKED,
        'Transfer-Encoding: gzip, chunked',
        'Connection: keep-alive',
        'Connection: close',
        'X-Request-Id: a',
        'Cookie: a=b',
        'Accept: a',
        'Content-Encoding: identity',
      ),
      { minLength: 1, maxLength: 2 },
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(1_000, 4_096, 8_192, 15_000, 16_200, 16_384, 20_000, 70_000)
      .map((size) => [`X: ${'x'.repeat(size)}`]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(50, 99, 101, 1_000, 2_001)
      .map((count) => Array.from({ length: count }, (_, index) => `X${index}: `)),
  },
);

const request = fc.oneof(
  { weight: 2, arbitrary: fc.constant(PLAIN) },
  {
    weight: 3,
    arbitrary: fc.tuple(line, fields).map(([first, others]) => head(first, LENGTH, ...others) + GOOD),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(line, fields, chunkedBody)
      .map(([first, others, body]) => head(first, CHUNKED, ...others) + body),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fields, fc.oneof(fc.constant(GOOD), chunkedBody))
      .map(([others, body]) => head(LINE, LENGTH, CHUNKED, ...others) + body),
  },
);

/**
 * Up to four requests, each sent by itself or with the next one, and cut at up to two more places. The lane serves no
 * request that arrives together with bytes of another.
 */
const sent: fc.Arbitrary<Sent> = fc
  .record({
    requests: fc.array(fc.record({ text: request, isAlone: mostly(true, false) }), {
      minLength: 1,
      maxLength: 4,
    }),
    shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
    isSlow: fc.boolean(),
  })
  .map(({ requests, shares, isSlow }) => {
    let text = '';
    const cuts: number[] = [];
    for (const one of requests) {
      text += one.text;
      if (one.isAlone) cuts.push(text.length);
    }
    return { text, cuts: [...cuts, ...shares.map((share) => Math.floor(share * text.length))], isSlow };
  });

test('chunks, targets, long heads, doubles and pipelines get the same responses with the lane and without', async () => {
  await fc.assert(
    fc.asyncProperty(sent, async (one) => void (await expectSame(one))),
    { numRuns: propertyRuns(400) },
  );
});
