import { JSON_DEPTH_MAX } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import type { JsonBounds } from './reader.js';
import { scanJson } from './scan.js';
import { skimJson } from './skim.js';

const BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: 1_000_000 };
const skim = (text: string | Buffer) => skimAll(Buffer.from(text as string), BOUNDS);

function skimAll(bytes: Buffer, bounds: JsonBounds): unknown {
  return skimInSteps(bytes, bounds).value;
}

function skimInSteps(bytes: Buffer, bounds: JsonBounds): { value: unknown; steps: number } {
  const reading = skimJson(bytes, 'raw_json', bounds);
  for (let steps = 1; ; steps += 1) {
    const { done, value } = reading.next();
    if (done === true) return { value, steps };
  }
}

/** Returns the expected result of `skimJson`: that of `JSON.parse`, except that some members are left empty. */
function expected(text: string): unknown {
  const body = JSON.parse(text) as Record<string, unknown>;
  for (const member of [
    body,
    ...Object.values(body).flatMap((value) => (Array.isArray(value) ? value : [])),
  ]) {
    const isObject = typeof member === 'object' && member !== null && !Array.isArray(member);
    if (!isObject || !Object.hasOwn(member, 'raw_json')) continue;
    const { raw_json } = member;
    if (typeof raw_json === 'object' && raw_json !== null)
      member.raw_json = Array.isArray(raw_json) ? [] : {};
  }
  return body;
}

const key = fc.oneof(
  fc.constantFrom('raw_json', 'events', 'metadata', 'a', ''),
  fc.string({ unit: 'binary' }),
);
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
    ),
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -0,
      1e300,
      123_456_789_012_345,
      1_234_567_890_123_456,
      'a\u0000"\\/\ud800',
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}));
const bodies = fc
  .dictionary(key, fc.oneof(json, fc.array(fc.dictionary(key, json, { maxKeys: 4 }))))
  .filter((body) => !JSON.stringify(body).includes('"__proto__":'));

describe('skimming JSON', () => {
  it('reads every object as JSON.parse does, but for what is left empty', () => {
    fc.assert(
      fc.property(bodies, fc.constantFrom(undefined, 1, '\t', ' \r\n'), (body, space) => {
        const text = JSON.stringify(body, undefined, space);
        expect(skim(text)).toEqual(expected(text));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('takes nothing that JSON.parse refuses, wherever a byte is changed', () => {
    fc.assert(
      fc.property(
        bodies,
        fc.array(
          fc.record({
            at: fc.nat(),
            byte: fc.constantFrom(...Buffer.from('{}[]",:\\u0-.eE+1tn \n\u0001x\u00e9')),
          }),
        ),
        fc.nat(),
        (body, changes, cut) => {
          const bytes = Buffer.from(JSON.stringify(body));
          for (const { at, byte } of changes.slice(0, 3)) bytes[at % bytes.length] = byte;
          const sent = bytes.subarray(0, cut % 5 === 0 ? cut % (bytes.length + 1) : bytes.length);
          const skimmed = skim(sent);
          if (skimmed !== undefined) expect(skimmed).toEqual(expected(sent.toString('utf8')));
        },
      ),
      { numRuns: propertyRuns(750) },
    );
  });

  it.each([
    '{"a":01}',
    '{"a":1.}',
    '{"a":.5}',
    '{"a":-}',
    '{"a":+1}',
    '{"a":1e}',
    '{"a":tru}',
    '{"a":nul',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":"\n"}',
    '{"a":"',
    '{"a" 1}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    '{"a":[1,]}',
    '{"a":[}',
    '{"a":1}}',
    '{"a":1} x',
    '\ufeff{}',
    '{\u00a0}',
    '',
  ])('refuses %j, in what it reads and in what it leaves empty', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(skim(text)).toBeUndefined();
    expect(skim(`{"raw_json":${text}}`)).toBeUndefined();
  });

  it('leaves to others what needs care', () => {
    expect(skim('{"__proto__":1}')).toBeUndefined();
    expect(skim('{"\\u005f_proto__":1}')).toBeUndefined();
    expect(skim('[{"raw_json":{}}]')).toBeUndefined();
    expect(skim(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBeUndefined();
  });

  it('lets the last of duplicate keys win', () => {
    expect(skim('{"raw_json":{"a":1},"a":[1],"raw_json":7,"a":2}')).toEqual({ raw_json: 7, a: 2 });
  });

  it('reads a long list of the root in steps, and another one at once', () => {
    const events = Array.from({ length: 300 }, (_, id) => ({ id, raw_json: { a: 'x'.repeat(1_000) } }));
    const inSteps = skimInSteps(Buffer.from(JSON.stringify({ events, a: 1 })), BOUNDS);
    expect(inSteps.value).toEqual({ events: events.map(({ id }) => ({ id, raw_json: {} })), a: 1 });
    expect(inSteps.steps).toBe(10);
    const deeper = Buffer.from(JSON.stringify({ metadata: { events } }));
    expect(skimInSteps(deeper, BOUNDS)).toEqual({ value: { metadata: { events } }, steps: 1 });
  });

  it('reads a member of that name that stands elsewhere', () => {
    const body = {
      metadata: { raw_json: { a: 1 } },
      events: [{ metadata: { raw_json: [1] } }, [{ raw_json: [1] }]],
    };
    expect(skim(JSON.stringify(body))).toEqual(body);
  });

  it.each([
    ['read', (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`],
    ['left empty', (depth: number) => `{"raw_json":${'{"a":'.repeat(depth - 1)}1${'}'.repeat(depth - 1)}}`],
  ])('keeps the bound of depth in what is %s', (_where, nested) => {
    expect(skim(nested(JSON_DEPTH_MAX))).toBeDefined();
    expect(skim(nested(JSON_DEPTH_MAX + 1))).toBeUndefined();
  });

  it('counts values as a scan does', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const bytes = Buffer.from(JSON.stringify(body));
        const { valueCount } = scanJson(bytes);
        expect(skimAll(bytes, { ...BOUNDS, valuesMax: valueCount })).toBeDefined();
        expect(skimAll(bytes, { ...BOUNDS, valuesMax: valueCount - 1 })).toBeUndefined();
      }),
    );
  });
});
