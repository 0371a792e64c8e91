import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_DEPTH_MAX, parseLossless, selectJson } from '../../../kernel/json/json.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import { compileExtractor } from './index.js';
import { compilePath } from './path.js';
import { selectionOf } from './selection.js';

function compiled(source: string) {
  const path = compilePath(source);
  if (!path.ok) throw new Error(path.message);
  return path;
}

const ofPaths = (...sources: string[]) => selectionOf(sources.map((source) => compiled(source).segments));

function selected(text: string, ...paths: string[]): unknown {
  return selectJson(Buffer.from(text), ofPaths(...paths));
}

describe('selects', () => {
  const TEXT = '{"a":{"b":1,"c":{"d":2}},"l":[{"x":1},{"x":2}],"e":3}';

  it.each<[string[], unknown]>([
    [[], {}],
    [['a.b'], { a: { b: 1 } }],
    [['a.b', 'a.c.d', 'e'], { a: { b: 1, c: { d: 2 } }, e: 3 }],
    [['a.b', 'a'], { a: { b: 1, c: { d: 2 } } }],
    [['a', 'a.b'], { a: { b: 1, c: { d: 2 } } }],
    [['l[-1].x'], { l: [{ x: 1 }, { x: 2 }] }],
    [['e.deeper'], { e: null }],
    [['missing'], {}],
    [['$'], parseLossless(TEXT)],
    [['a.b', '$[0]'], parseLossless(TEXT)],
    [['__proto__.x'], parseLossless(TEXT)],
    [["$['\ud800']"], parseLossless(TEXT)],
  ])('%j', (paths, expected) => {
    expect(selected(TEXT, ...paths)).toEqual(expected);
  });

  it('nothing by paths that are deeper than what is accepted', () => {
    const path = (depth: number) => Array.from({ length: depth }, () => 'a').join('.');
    const text = `${'{"a":'.repeat(JSON_DEPTH_MAX)}1${'}'.repeat(JSON_DEPTH_MAX)}`;
    expect(selected(text, path(JSON_DEPTH_MAX))).toEqual(JSON.parse(text));
    expect(selected(text, path(JSON_DEPTH_MAX + 1))).toEqual({});
  });
});

it('selects all that any part of a rule set reads', () => {
  const result = compileExtractor({
    subject: { type_path: 'who.type', id_path: 'who.id' },
    dimensions: [{ name: 'model', path: 'model', type: 'string' }],
    charge_item_extractors: [
      { metric: 'in', path: 'usage.total', less_paths: ['usage.cached', 'cut'], type: 'number' },
    ],
  });
  if (!result.ok) throw new Error('does not compile');
  const text = `{
    "who":{"type":"t","id":"i","x":0}, "model":"m", "usage":{"total":1,"cached":2,"x":0}, "cut":3, "x":{"model":0}
  }`;
  expect(selectJson(Buffer.from(text), result.extractor.reads)).toEqual({
    who: { type: 't', id: 'i' },
    model: 'm',
    usage: { total: 1, cached: 2 },
    cut: 3,
  });
});

it('reads at each path what the whole value has there', () => {
  const names = ['a', 'b', 'constructor', '__proto__', 'é', '0'];
  const segment = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...names).map((name) => `['${name}']`) },
    { weight: 1, arbitrary: fc.integer({ min: -2, max: 2 }).map((index) => `[${index}]`) },
  );
  const path = fc.array(segment, { maxLength: 4 }).map((segments) => `$${segments.join('')}`);
  const key = fc.constantFrom(...names, 'x', 'a\n');
  const { text } = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 5, depthIdentifier: 'json' },
      fc.constantFrom('1', '0.5', '12345678901234567890', '"t"', '"\\u0041"', 'null', 'true'),
      fc.array(tie('text'), { maxLength: 3, depthIdentifier: 'json' }).map((texts) => `[${texts.join()}]`),
      fc
        .array(fc.tuple(key, tie('text')), { minLength: 1, maxLength: 6, depthIdentifier: 'json' })
        .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`),
    ),
  }));
  let found = 0;
  const numRuns = propertyRuns(750);
  fc.assert(
    fc.property(text, fc.array(path, { minLength: 1, maxLength: 4 }), (json, sources) => {
      const paths = sources.map(compiled);
      const whole = parseLossless(json);
      const part = selectJson(Buffer.from(json), selectionOf(paths.map(({ segments }) => segments)));
      if (part === undefined) return json.includes('\\');
      for (const { read } of paths) {
        const expected = read(whole);
        if (expected !== undefined) found++;
        expect(read(part)).toEqual(expected);
      }
      return true;
    }),
    { numRuns },
  );
  expect(found).toBeGreaterThan(numRuns / 6);
});
