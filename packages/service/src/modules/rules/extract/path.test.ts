import { describe, expect, it } from 'vitest';
import { parseLossless } from '../../../kernel/json/json.js';
import { compilePath } from './path.js';

function read(path: string, root: unknown): unknown {
  const compiled = compilePath(path);
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.read(root);
}

function refusalOf(path: string): string {
  const compiled = compilePath(path);
  if (compiled.ok) throw new Error(`${path} was accepted`);
  return compiled.message;
}

const EVENT = JSON.parse(`{
  "usage": {"prompt_tokens": 12, "details": {"cached": {"tokens": 3}}, "none": null, "zero": 0},
  "choices": [{"finish-reason": "stop"}, {"finish-reason": "length"}],
  "a.b": 1, "é": 2, "": 3, "😀": 4, "it's": 5, "$": 6, "__proto__": {"x": 7}, "length": 8, "0": 9
}`);

describe('reads', () => {
  it.each([
    ['usage.prompt_tokens', 12],
    ['$.usage.prompt_tokens', 12],
    ["$['usage']['prompt_tokens']", 12],
    ['$["usage"].prompt_tokens', 12],
    ["['usage'].prompt_tokens", 12],
    ['usage.details.cached.tokens', 3],
    ['usage.zero', 0],
    ['usage.none', null],
    ["choices[0]['finish-reason']", 'stop'],
    ["choices[-1]['finish-reason']", 'length'],
    ["$['a.b']", 1],
    ['é', 2],
    ["$['']", 3],
    ['😀', 4],
    ["$['it\\'s']", 5],
    ["$['$']", 6],
    ["$['\\u0061.b']", 1],
    ['__proto__.x', 7],
    ['length', 8],
    ["$['0']", 9],
    ['$ .usage .prompt_tokens', 12],
  ])('%s', (path, expected) => {
    expect(read(path, EVENT)).toBe(expected);
  });

  it.each([
    'missing',
    'missing.deeper.still',
    'usage.prompt_tokens.deeper',
    'usage.none.deeper',
    'choices[2]',
    'choices[-3]',
    'choices.length',
    'usage[0]',
    "choices['0']",
    '$[0]',
  ])('nothing at %s', (path) => {
    expect(read(path, EVENT)).toBeUndefined();
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'constructor.name', 'usage.valueOf'])(
    'own properties only, and so nothing at %s',
    (path) => {
      expect(read(path, { usage: {} })).toBeUndefined();
    },
  );

  it('the whole event', () => {
    expect(read('$', EVENT)).toBe(EVENT);
  });

  it('nothing inside the number that no double holds', () => {
    const root = parseLossless('{"n": 12345678901234567890}');
    expect(read('n.text', root)).toBeUndefined();
    expect(String(read('n', root))).toBe('12345678901234567890');
  });

  it.each([null, 5, 'text', true, [], undefined])('nothing in %j', (root) => {
    expect(read('a.b', root)).toBeUndefined();
  });
});

describe('refuses what may select more than one node', () => {
  it.each([
    'usage.*',
    '$.choices[*]',
    '$..tokens',
    '.usage',
    'usage..tokens',
    'choices[0:2]',
    'choices[:]',
    'choices[0, 1]',
    "$['a', 'b']",
    '$[?@.a == 1]',
    'choices[?(@.x > 1)].y',
  ])('%s', (path) => {
    expect(refusalOf(path)).toContain('may select more than one');
  });
});

describe('refuses what is no path', () => {
  it.each([
    '$.',
    'usage.',
    '$.1st',
    'a b',
    ' usage',
    'usage ',
    '$.a[',
    '$.a[]',
    '$.a[1.5]',
    '$.a[01]',
    '$.a[-0]',
    '$.a[9007199254740992]',
    "$.a['b]",
    '$.a["\\x"]',
    '$.a["\\uD800"]',
    '$$',
    '@.a',
    '$.a:b',
    '$.a(b)',
    '$[?',
    '/usage/tokens',
    '',
  ])('%s', (path) => {
    expect(refusalOf(path)).toMatch(/^line 1, column \d+: expected a JSON path such as usage.prompt_tokens/);
  });

  it('says where, in what the user wrote', () => {
    expect(refusalOf('usage.a b')).toMatch(/^line 1, column 9: /);
    expect(refusalOf('$.usage.a b')).toMatch(/^line 1, column 11: /);
    expect(refusalOf('usage\n.a b')).toMatch(/^line 2, column 4: /);
    expect(refusalOf('usage.a-b')).toMatch(/^line 1, column 7: /);
    expect(refusalOf('usage.*.x')).toMatch(/^line 1, column 7: /);
    expect(refusalOf('$.usage..x')).toMatch(/^line 1, column 8: /);
  });

  it.each(['usage.prompt-tokens', '$.a-b', 'a.b-c.d'])('%s, whose name needs brackets', (path) => {
    expect(refusalOf(path)).toMatch(
      /^line 1, column \d: expected the name \S+-\S+ in brackets: \['\S+-\S+'\]$/,
    );
  });

  it.each([
    `$${'[?('.repeat(300)}`,
    `$[?${'('.repeat(500)}@.a${')'.repeat(500)}]`,
    `$${'.a'.repeat(512)}[*]`,
  ])('deeply nested ones: %s', (path) => {
    expect(compilePath(path).ok).toBe(false);
  });
});
