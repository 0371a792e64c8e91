import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Wire, type WireAnswer } from '../../testing/both-ways.js';
import { ExpressFixture } from '../../testing/express-fixture.js';

const { PATH, GOOD } = ExpressFixture;

let fixture: ExpressFixture;
beforeAll(async () => {
  fixture = await ExpressFixture.start();
});
afterAll(() => fixture.stop());

const mostly = (usual: string, ...others: string[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const line = mostly(
  `POST ${PATH} HTTP/1.1\r\n`,
  `POST ${PATH} HTTP/1.0\r\n`,
  `POST ${PATH}  HTTP/1.1\r\n`,
  `POST ${PATH}? HTTP/1.1\r\n`,
  `post ${PATH} HTTP/1.1\r\n`,
  `POST ${PATH} HTTP/1.1\n`,
  `\r\nPOST ${PATH} HTTP/1.1\r\n`,
);
const length = mostly(
  'Content-Length: 13\r\n',
  'content-length:13 \r\n',
  'Content-Length: 12\r\n',
  'Content-Length: 14\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 013\r\n',
  'Content-Length: 0x0d\r\n',
  'Content-Length: +13\r\n',
  'Content-Length: 13, 13\r\n',
  'Content-Length: 13\r\nContent-Length: 13\r\n',
  'Content-Length : 13\r\n',
  'Content-Length: 13\n',
  'Transfer-Encoding: chunked\r\nContent-Length: 13\r\n',
);
const other = fc.constantFrom(
  'Accept: */*\r\n',
  'X-Forwarded-For: 127.0.0.1\r\n',
  'Connection: keep-alive\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive, close\r\n',
  'X: a\r\n b\r\n',
  ': x\r\n',
  'X\r\n',
  'X: \u0001\r\n',
  'X: a\rb\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer_Encoding: chunked\r\n',
  'Expect: x\r\n',
  'Upgrade: websocket\r\n',
  'Authorization: Bearer x\r\n',
);
const request = fc
  .tuple(
    line,
    mostly('Host: x\r\n', 'Host:\r\n', ''),
    mostly('Authorization: Bearer service\r\n', 'Authorization: bearer  service\r\n', ''),
    mostly('Content-Type: application/json\r\n', 'Content-Type: application/json;\r\n', ''),
    length,
    fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: other }),
    mostly('\r\n', '\n', '\n\r\n'),
    mostly(GOOD, `${GOOD} `, GOOD.slice(1), GOOD.slice(0, -1), `${GOOD}\r\n`),
  )
  .map((parts) => parts.join(''));

/** The plain request that most others are, but for something in them. */
const USUAL = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer service\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n${GOOD}`;

interface Sent {
  /** How many plain requests the connection has carried before. */
  readonly before: number;
  readonly text: string;
  /** Where the text is cut into two packets, as a share of its length. */
  readonly cut: number;
}

/** All that is answered until the connection is closed, and the bodies that the operation got. */
async function outcome(port: number, { before, text, cut }: Sent) {
  fixture.answered.length = 0;
  const wire = await Wire.open(port);
  const answers: (WireAnswer | undefined)[] = [];
  for (let index = 0; index < before; index += 1) {
    await wire.write(Buffer.from(USUAL));
    answers.push(await wire.answer());
  }
  const bytes = Buffer.from(text, 'latin1');
  const cutAt = Math.floor(cut * bytes.length);
  await wire.write(bytes.subarray(0, cutAt));
  wire.socket.end(bytes.subarray(cutAt));
  await wire.closed();
  for (let last = await wire.answer(); last !== undefined; last = await wire.answer()) answers.push(last);
  // Behind an answer that closes the connection, it is chance whether Node looks at what is left over.
  const closing = answers.findIndex((answer) => /^connection: close\r$/im.test(answer?.head ?? ''));
  if (closing >= 0) answers.length = closing + 1;
  return {
    answers: answers.map((answer) => ({ ...answer, requestId: undefined })),
    bodies: fixture.answered.map(({ rawBody }) => rawBody.toString('latin1')),
  };
}

test('whatever is sent is understood as Node understands it', async () => {
  const sent = fc.record({
    before: fc.nat({ max: 1 }),
    text: request,
    cut: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(sent, async (one) => {
      const { express, fastify } = fixture.ways;
      expect(await outcome(express, one)).toEqual(await outcome(fastify, one));
    }),
    { numRuns: 500 },
  );
});
