import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson } from './json-scan.js';
import { scanEvents } from './json-spans.js';

function slices(body: string, kind: 'single' | 'batch'): string[] | undefined {
  const bytes = Buffer.from(body);
  return scanEvents(bytes, kind).rawJsonSpans?.map(({ start, end }) => bytes.toString('utf8', start, end));
}

describe('scanEvents', () => {
  it.each([
    ['{"raw_json":{"a":1}}', ['{"a":1}']],
    [' { "source" : "s" , "raw_json" : { "a" : [ 1 ] } , "x" : 1.5e3 } ', ['{ "a" : [ 1 ] }']],
    ['{"raw_json":{"n":1},"raw_json":{"n":2}}', ['{"n":2}']],
    ['{"metadata":{"raw_json":{"no":1}},"raw_json":{"raw_json":3}}', ['{"raw_json":3}']],
    ['{"raw_json":"}\\"é","raw_json2":0,"aw_json":1}', ['"}\\"é"']],
    ['{"raw_json":null}', ['null']],
    ['{"source":"s"}', undefined],
    ['{"raw_json":{"n":1},"raw\\u005fjson":{"n":2}}', undefined],
    ['[{"raw_json":1}]', undefined],
    ['1', undefined],
  ])('single %s', (body, expected) => {
    expect(slices(body, 'single')).toEqual(expected);
  });

  it.each([
    ['{"events":[]}', []],
    ['{"events":[{"raw_json":{"a":1}},{"raw_json":{"b":"]"}}]}', ['{"a":1}', '{"b":"]"}']],
    ['{"events":[{"raw_json":1}],"x":[],"events":[ {"y":2,"raw_json":3} , {"raw_json":4} ]}', ['3', '4']],
    ['{"raw_json":0,"events":[{"raw_json":{"events":[{"raw_json":5}]}}]}', ['{"events":[{"raw_json":5}]}']],
    ['{"events":1,"events":[{"raw_json":2}]}', ['2']],
    ['{"events":[{"raw_json":1},{}]}', undefined],
    ['{"events":[1,[],"s",{"raw_json":1}]}', undefined],
    ['{"events":[{"raw_json":1}],"events":{}}', undefined],
    ['{"events":[{"raw_json":1,"\\u0061":2}]}', undefined],
    ['{"event\\u0073":[]}', undefined],
    ['{}', undefined],
  ])('batch %s', (body, expected) => {
    expect(slices(body, 'batch')).toEqual(expected);
  });

  const value = fc.jsonValue({ maxDepth: 3 });
  const key = fc.oneof(fc.constantFrom('raw_json', 'events', 'raw_jso', '__proto__', 'x'), fc.string());
  /** Members in any order with duplicates, printed with and without whitespace. */
  const objectOf = (member: fc.Arbitrary<[string, string]>) =>
    fc
      .tuple(fc.array(member, { maxLength: 6 }), fc.constantFrom(',', ' ,\n '), fc.constantFrom(':', '\t: '))
      .map(([members, comma, colon]) => {
        return `{${members.map(([name, text]) => JSON.stringify(name) + colon + text).join(comma)}}`;
      });
  const event = objectOf(fc.tuple(key, fc.oneof(value.map((v) => JSON.stringify(v)))));
  const events = fc.array(event, { maxLength: 4 }).map((texts) => `[${texts.join(' , ')}]`);
  const batch = objectOf(
    fc.oneof(
      fc.tuple(
        key,
        value.map((v) => JSON.stringify(v)),
      ),
      fc.tuple(fc.constant('events'), events),
    ),
  );

  /** What JSON.parse says the slices must hold; undefined where there is no raw_json to point at. */
  function expectedOf(parsed: unknown): unknown[] | undefined {
    const list = (parsed as { events?: unknown }).events;
    if (!Array.isArray(list)) return undefined;
    const found = list.map((element) =>
      typeof element === 'object' &&
      element !== null &&
      Object.hasOwn(element, 'raw_json') &&
      !Array.isArray(element)
        ? { raw: element.raw_json }
        : undefined,
    );
    return found.some((one) => one === undefined) ? undefined : found.map((one) => one?.raw);
  }

  it('points at what JSON.parse finds', () => {
    fc.assert(
      fc.property(batch, (body) => {
        const spans = slices(body, 'batch')?.map((text) => JSON.parse(text));
        const parsed = JSON.parse(body);
        // An escaped key may make it give up, and only that.
        if (spans !== undefined || !body.includes('\\')) expect(spans).toEqual(expectedOf(parsed));
      }),
      { numRuns: 3_000 },
    );
    fc.assert(
      fc.property(event, (body) => {
        const parsed = JSON.parse(body);
        const expected = Object.hasOwn(parsed, 'raw_json') ? [parsed.raw_json] : undefined;
        const spans = slices(body, 'single')?.map((text) => JSON.parse(text));
        if (spans !== undefined || !body.includes('\\')) expect(spans).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('tells of the whole body whether a number in it may be inexact', () => {
    const exact = '{"at":15.5,"raw_json":{"n":[1]},"x":"1e5"}';
    const numbers = ['1e5', '-1E5', '12345678901234567890', '0.1234567890123456'];
    for (const number of numbers) {
      const inexact = [
        exact.replace('15.5', number),
        exact.replace('1]', `${number}]`),
        exact.replace('"1e5"', number),
      ];
      for (const [text, kind] of [
        ...inexact.map((event) => [event, 'single'] as const),
        ...inexact.map((event) => [`{"events":[${exact},${event}]}`, 'batch'] as const),
        [`{"events":[${exact},${number}]}`, 'batch'],
        [`{"events":[${exact}],"y":${number}}`, 'batch'],
        [number, 'single'],
      ] as const) {
        expect([text, scanEvents(Buffer.from(text), kind).hasInexactNumber]).toEqual([text, true]);
      }
    }
    expect(scanEvents(Buffer.from(exact), 'single').hasInexactNumber).toBe(false);
    expect(scanEvents(Buffer.from(`{"events":[${exact},${exact}]}`), 'batch').hasInexactNumber).toBe(false);
    fc.assert(
      fc.property(
        fc.oneof(batch, event),
        fc.constantFrom('single' as const, 'batch' as const),
        (body, kind) => {
          const bytes = Buffer.from(body);
          expect(scanEvents(bytes, kind).hasInexactNumber).toBe(scanJson(bytes).hasInexactNumber);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('ends, within the bytes, on anything', () => {
    const soup = fc
      .array(fc.constantFrom(...'{}[]",:\\ 1', '"raw_json"', '"events"', '{"events":[{'), { maxLength: 30 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(soup, fc.constantFrom('single' as const, 'batch' as const), (text, kind) => {
        const bytes = Buffer.from(text);
        for (const { start, end } of scanEvents(bytes, kind).rawJsonSpans ?? []) {
          expect(start).toBeLessThanOrEqual(end);
          expect(end).toBeLessThanOrEqual(bytes.length);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
