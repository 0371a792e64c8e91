import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../testing/property-runs.js';
import { PlainHeadReader } from './request-head.js';

const END = '\r\n\r\n';
const headOf = (length: string, others = ['Authorization: Bearer key', 'x-request-id: one']): string =>
  [
    'POST /v1/things HTTP/1.1',
    'Host: here',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...others,
  ].join('\r\n') + END;

const readIn = (reader: PlainHeadReader, text: string): unknown => reader.read(Buffer.from(text, 'latin1'));
const readAlone = (text: string): unknown => readIn(new PlainHeadReader(), text);

const getOf = (target: string, others: readonly string[] = []): string =>
  [`GET ${target} HTTP/1.1`, 'Host: here', 'Authorization: Bearer key', ...others].join('\r\n') + END;

describe('heads of requests without a body', () => {
  it.each<[string, string, string | undefined]>([
    ['/v1/things', '/v1/things', undefined],
    ['/v1/things?', '/v1/things', ''],
    ['/v1/things?a=b&c=%C3%BC+x', '/v1/things', 'a=b&c=%C3%BC+x'],
  ])('have a path and a query: %s', (target, path, query) => {
    expect(readAlone(getOf(target))).toEqual({
      method: 'GET',
      path,
      query,
      headBytes: getOf(target).length,
      bodyBytes: 0,
      authorization: 'Bearer key',
    });
  });

  it.each([
    'Content-Length: 0',
    'Content-Length: 2',
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
  ])('are not plain with a field of a body: %s', (field) =>
    expect(readAlone(getOf('/v1/things', [field]))).toBeUndefined(),
  );

  it.each([
    '/v1/things#a',
    '/v1/things?a="b"',
    '/v1/things?a=é',
    '/v1/%74hings',
    'http://here/v1/things',
    '*',
  ])('are not plain with the target %s', (target) => expect(readAlone(getOf(target))).toBeUndefined());

  it('are awaited to their end, and read again when they are the same or others', () => {
    const reader = new PlainHeadReader();
    const first = getOf('/v1/things?a=1');
    for (let end = 'G'.length; end < first.length; end += 1)
      expect(readIn(reader, first.slice(0, end))).toBe('incomplete');
    for (const [text, query] of [
      [first, 'a=1'],
      [first, 'a=1'],
      [getOf('/v1/things?a=2'), 'a=2'],
      [first + first, 'a=1'],
    ] as const)
      expect(readIn(reader, text)).toMatchObject({ query, headBytes: first.length });
    expect(readIn(reader, headOf('17'))).toMatchObject({ method: 'POST', bodyBytes: 17 });
  });
});

describe('heads of one connection', () => {
  it.each(['1', '42', '99', '1048576', '999999999'])('differ in their length: %s', (length) => {
    const reader = new PlainHeadReader();
    readIn(reader, `${headOf('17')}{"a":1}`);
    const text = `${headOf(length)}{"a":1}${' '.repeat(20)}`;
    expect(readIn(reader, text)).toEqual({
      method: 'POST',
      path: '/v1/things',
      headBytes: headOf(length).length,
      bodyBytes: Number(length),
      authorization: 'Bearer key',
      requestId: 'one',
    });
  });

  it.each(['', '0', '07', '1234567890', '-1', '1,1', '1 1', '1e1'])(
    'have a length or are not plain: "%s"',
    (length) => {
      const reader = new PlainHeadReader();
      readIn(reader, `${headOf('17')}{}`);
      expect(readIn(reader, `${headOf(length)}${' '.repeat(20)}`)).toBeUndefined();
    },
  );

  it('are awaited to their end, also where the length is a longer one', () => {
    const reader = new PlainHeadReader();
    readIn(reader, headOf('1'));
    const longer = headOf('1048576');
    for (let end = 'POST'.length; end < longer.length; end += 1)
      expect(readIn(reader, longer.slice(0, end))).toBe('incomplete');
    expect(readIn(reader, longer)).toMatchObject({ bodyBytes: 1_048_576 });
  });

  it.each([1_024, 4_096])(
    'may be known or not: with one of %i bytes, a digit more makes no difference but to its length',
    (bytes) => {
      const others = ['Authorization: Bearer key', 'x-request-id: one'];
      const filler = `x-filler: ${'f'.repeat(bytes - headOf('1', others).length - 'x-filler: \r\n'.length)}`;
      const text = headOf('1', [...others, filler]);
      expect(text).toHaveLength(bytes);
      const longer = text.replace('Content-Length: 1\r', 'Content-Length: 12\r');
      const reader = new PlainHeadReader();
      for (const [head, bodyBytes] of [
        [text, 1],
        [longer, 12],
        [text, 1],
      ] as const) {
        // A longer head is not plain.
        if (head.length > 4_096) expect(readIn(reader, head)).toBeUndefined();
        else expect(readIn(reader, head)).toMatchObject({ headBytes: head.length, bodyBytes });
      }
    },
  );

  it('have the fields of a trace, each once', () => {
    const fields = ['Traceparent: 00-a-b-01', 'tracestate: vendor=1'];
    const traced = { traceparent: '00-a-b-01', tracestate: 'vendor=1' };
    const reader = new PlainHeadReader();
    expect(readIn(reader, headOf('1', fields))).toMatchObject(traced);
    expect(readIn(reader, headOf('12', fields))).toMatchObject({ ...traced, bodyBytes: 12 });
    expect(readIn(reader, headOf('12', fields.slice(1)))).toMatchObject({ traceparent: undefined });
    for (const field of fields) expect(readIn(reader, headOf('1', [...fields, field]))).toBeUndefined();
  });

  it('read each as they would read it alone, whichever came before', () => {
    const part = fc.constantFrom(
      'Host: here',
      'host: there',
      'Content-Type: application/json',
      'Content-Length: 17',
      'content-length: 170000',
      'Authorization: Bearer key',
      'Authorization: Bearer kez',
      'x-request-id: one',
      'traceparent: 00-1',
      'Traceparent: 00-2',
      'tracestate: a=1',
      'x-note: Content-Length: 9',
      'Connection: keep-alive',
      'Connection: close',
    );
    const head = fc
      .tuple(
        fc.constantFrom('POST /v1/a', 'POST /v1/b', 'GET /v1/a?b=1', 'GET /v1/a?b=2'),
        fc.array(part, { maxLength: 6 }),
      )
      .map(([line, parts]) => {
        const type = line.startsWith('POST') ? ['Content-Type: application/json'] : [];
        return [`${line} HTTP/1.1`, 'Host: h', ...type, ...parts].join('\r\n') + END;
      });
    const edit = fc.record({
      at: fc.nat(),
      remove: fc.nat(3),
      insert: fc.constantFrom('', '0', '1', '99', '\r', '\r\n', 'x', ' ', 'é'),
    });
    /** The same text again, slightly changed, and cut somewhere. */
    const variation = fc.tuple(fc.option(edit), fc.option(fc.nat()), fc.constantFrom('', '{}', '{"a":"b"}'));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(head, fc.array(variation, { maxLength: 4 })), { maxLength: 3 }),
        (heads) => {
          const reader = new PlainHeadReader();
          for (const [text, variations] of heads) {
            for (const [change, cutAt, body] of [[null, null, '{}'] as const, ...variations]) {
              let varied = text;
              if (change !== null) {
                const at = change.at % text.length;
                varied = text.slice(0, at) + change.insert + text.slice(at + change.remove);
              }
              varied += body;
              if (cutAt !== null) varied = varied.slice(0, cutAt % (varied.length + 1));
              expect(readIn(reader, varied)).toEqual(readAlone(varied));
            }
          }
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });
});
