import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import { parseLossless } from './json.js';
import {
  ALL,
  isSelectable,
  type JsonSelection,
  JsonSpan,
  SelectedEntries,
  SelectedMembers,
  SPAN,
  selectJson,
} from './select.js';

const members = (selections: Record<string, JsonSelection>) =>
  new SelectedMembers(Object.entries(selections));

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns the selected value, with each span replaced by what `made` returns for its text. */
function withSpans(bytes: Buffer, value: unknown, made: (text: string) => unknown): unknown {
  if (value instanceof JsonSpan) return made(bytes.toString('utf8', value.start, value.end));
  if (Array.isArray(value)) return value.map((entry) => withSpans(bytes, entry, made));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, below]) => [name, withSpans(bytes, below, made)]),
  );
}

function selected(text: string, selection: JsonSelection): unknown {
  const bytes = Buffer.from(text);
  return withSpans(bytes, selectJson(bytes, selection), (span) => ({ span }));
}

describe('selectJson', () => {
  const AB = members({ a: ALL, b: members({ c: ALL }) });

  it.each<[string, JsonSelection, unknown]>([
    ['{"a":1,"x":[{"a":2}],"b":{"c":"t","d":3}}', AB, { a: 1, b: { c: 't' } }],
    [' { "x" : "}" , "b" : { "d" : 0 , "c" : [ 1 , { } ] } } ', AB, { b: { c: [1, {}] } }],
    ['{}', AB, {}],
    ['{"b":{}}', AB, { b: {} }],
    ['{"a":1,"a":{"z":2}}', AB, { a: { z: 2 } }],
    ['{"b":{"c":1},"b":{"d":2}}', AB, { b: {} }],
    ['{"b":{"c":1},"b":[{"c":1}]}', AB, { b: null }],
    ['{"b":"c","aa":1,"":2,"A":3}', AB, { b: null }],
    ['[{"a":1}]', AB, null],
    ['"a"', AB, null],
    ['{"constructor":1,"toString":2}', new SelectedMembers([['constructor', ALL]]), { constructor: 1 }],
    ['{"é😀":1,"e":2}', members({ 'é😀': ALL }), { 'é😀': 1 }],
    ['{"":1}', members({ '': ALL }), { '': 1 }],
    ['{"a":{"n":1},"a": { "n" : 2 } }', members({ a: SPAN }), { a: { span: '{ "n" : 2 }' } }],
    ['{"a":"}\\"é","b":1}', members({ a: SPAN }), { a: { span: '"}\\"é"' } }],
    ['{"a":-1.50e+3}', members({ a: SPAN }), { a: { span: '-1.50e+3' } }],
    ['[{"a":1},{"b":{"c":2}},3,[]]', new SelectedEntries(AB), [{ a: 1 }, { b: { c: 2 } }, null, null]],
    ['[ ]', new SelectedEntries(SPAN), []],
    ['{"a":[]}', new SelectedEntries(SPAN), null],
    ['true', ALL, true],
    ['false', ALL, false],
    ['null', ALL, null],
  ])('of %s', (text, selection, expected) => {
    expect(selected(text, selection)).toEqual(expected);
  });

  it.each([
    '0',
    '-0',
    '7',
    '999999999999999',
    '1.5',
    '-12.25',
    '1e3',
    '1E-2',
    '-1E5',
    '0.123456789012345',
    '0.1234567890123456',
    '9999999999999999',
    '12345678901234567890',
    '9007199254740993',
    '12345678901234567890.123',
    '0.1234567890123456789',
    `1${'0'.repeat(400)}`,
  ])('reads the number %s as parseLossless does', (text) => {
    expect(selected(`{"a": ${text} }`, members({ a: ALL }))).toEqual({ a: parseLossless(text) });
  });

  it.each([
    '""',
    '"x"',
    '"\\u0041\\n"',
    '"é"',
    '"😀\\ud800"',
    `"${'x'.repeat(500)}"`,
    '"\\\\"',
    '"a\\"b"',
    '"\u007f"',
  ])('reads the string %s as parseLossless does', (text) => {
    const selection = members({ a: ALL });
    // The second time it may be cached.
    for (let round = 0; round < 2; round++) {
      expect(selected(`{"x":0,"a":${text}}`, selection)).toEqual({ a: parseLossless(text) });
    }
  });

  it('begins at the given place, and reads no further than the value', () => {
    const bytes = Buffer.from('{"a":{"b":1}}garbage');
    expect(selectJson(bytes, members({ b: ALL }), 5)).toEqual({ b: 1 });
  });

  it.each(['{"\\u0061":1}', '{"x\\ny":1,"a":2}', '{"a"', '{"a":', '{"a":1', '{a:1}', '{"a" 1}', ''])(
    'leaves %j to be parsed whole',
    (text) => {
      expect(selected(text, AB)).toBeUndefined();
      expect(selected(`[${text}`, new SelectedEntries(AB))).toBeUndefined();
    },
  );

  it('keeps apart texts that stand in the same place', () => {
    const texts = Array.from({ length: 300 }, (_, index) => `t${index % 7}${index}`);
    const selection = members({ a: ALL });
    for (const text of [...texts, ...texts])
      expect(selected(`{"a":"${text}"}`, selection)).toEqual({ a: text });
  });

  it('keeps apart a text and another whose bytes look like its characters', () => {
    const selection = members({ a: ALL });
    for (const text of ['Ã©', 'é', 'Ã©', 'é'])
      expect(selected(`{"a":"${text}"}`, selection)).toEqual({ a: text });
  });

  it('finds each of many members, also where all names are of one length', () => {
    const names = Array.from({ length: 500 }, (_, index) => `é${String(index).padStart(4, '0')}`);
    const selection = new SelectedMembers(names.map((name) => [name, ALL] as const));
    const text = JSON.stringify(
      Object.fromEntries([...names, 'é9999', 'x'].map((name, index) => [name, index])),
    );
    expect(selected(text, selection)).toEqual(Object.fromEntries(names.map((name, index) => [name, index])));
  });

  it('refuses to select what it cannot', () => {
    for (const name of ['__proto__', '\ud800', 'a\udc00']) {
      expect(isSelectable(name)).toBe(false);
      expect(() => new SelectedMembers([[name, ALL]])).toThrow('cannot be selected');
    }
  });
});

describe('against parseLossless', () => {
  const name = fc.oneof(
    fc.constantFrom('a', 'b', 'ab', 'constructor', '__proto__', 'é', ''),
    fc.string({ maxLength: 3, unit: 'binary' }),
  );
  const number = fc.oneof(
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.bigInt().map((value) => `${value}.${String(value).replace('-', '')}`),
    fc.bigInt().map((value) => `${value}E3`),
  );
  const space = fc.constantFrom('', ' ', '\n\t');
  /** A JSON text with repeated names, numbers that a double cannot hold, and white space. */
  const { text } = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'json' },
      number,
      fc
        .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('x', 'yes', '\\', '"'))
        .map((value) => JSON.stringify(value)),
      fc.constantFrom('null', 'true', 'false', '[]', '{}'),
      fc
        .tuple(fc.array(tie('text'), { maxLength: 4, depthIdentifier: 'json' }), space)
        .map(([texts, around]) => `[${around}${texts.join(`${around},`)}${around}]`),
      fc
        .tuple(fc.array(fc.tuple(name, tie('text')), { maxLength: 6, depthIdentifier: 'json' }), space)
        .map(
          ([entries, around]) =>
            `{${around}${entries.map(([key, value]) => `${JSON.stringify(key)}${around}:${around}${value}`).join(`${around},${around}`)}${around}}`,
        ),
    ),
  }));
  const { selection } = fc.letrec<{ selection: JsonSelection }>((tie) => ({
    selection: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'selection' },
      fc.constant(ALL),
      fc.constant(SPAN),
      fc
        .uniqueArray(fc.tuple(name.filter(isSelectable), tie('selection')), {
          maxLength: 9,
          selector: ([key]) => key,
        })
        .map((selections) => new SelectedMembers(selections)),
      tie('selection').map((each) => new SelectedEntries(each)),
    ),
  }));

  /** Returns the part of a parsed value that the selection reads; a span is replaced by the value at its place. */
  function expectedOf(value: unknown, part: JsonSelection): unknown {
    if (part === ALL || part === SPAN) return value;
    if (part instanceof SelectedEntries) {
      return Array.isArray(value) ? value.map((entry) => expectedOf(entry, part.each)) : null;
    }
    if (!isObject(value)) return null;
    const entries = part.members.filter((member) => Object.hasOwn(value, member.name));
    return Object.fromEntries(
      entries.map((member) => [member.name, expectedOf(value[member.name], member.selection)]),
    );
  }

  it('reads the same, and gives up for escaped keys alone', () => {
    let read = 0;
    const numRuns = propertyRuns(1_250);
    fc.assert(
      fc.property(text, selection, (json, part) => {
        const bytes = Buffer.from(json);
        const found = selectJson(bytes, part);
        if (found === undefined) return json.includes('\\');
        read++;
        expect(withSpans(bytes, found, parseLossless)).toEqual(expectedOf(parseLossless(json), part));
        return true;
      }),
      { numRuns },
    );
    expect(read).toBeGreaterThan(numRuns / 2);
  });

  it('ends, within the bytes, on anything', () => {
    const soup = fc
      .array(fc.constantFrom(...'{}[]",:\\ 1-tn', '"a"', '"a":{', '[{"a":['), { maxLength: 30 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(soup, selection, (json, part) => {
        const bytes = Buffer.from(json);
        try {
          const found = selectJson(bytes, part);
          if (!(found instanceof JsonSpan)) return;
          expect(found.start).toBeLessThanOrEqual(found.end);
          expect(found.end).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          // Broken values that are read whole are refused by the parser.
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
      { numRuns: propertyRuns(750) },
    );
  });
});
