import { describe, expect, it } from 'vitest';
import { jsonMistake, placeInJson, placeInLiteral } from './json-place.js';

const TEXT = '{"a": {"b": [1, "x", {"c\\n": null}]}, "list": [[], [true]], "a2": "last"}';
const at = (path: string, text = TEXT) => {
  const place = placeInJson(text, path);
  return place === undefined ? undefined : text.slice(place.from, place.to);
};

describe('placeInJson', () => {
  it.each([
    ['a.b[0]', '1'],
    ['a.b[1]', '"x"'],
    ['a2', '"last"'],
    ['list[1][0]', 'true'],
  ])('finds the value of %s', (path, expected) => expect(at(path)).toBe(expected));

  it('shows what is composed by its first character', () => {
    expect(at('a')).toBe('{');
    expect(at('a.b')).toBe('[');
    expect(at('')).toBe('{');
  });

  it('shows what is missing at what it should be in', () => {
    const place = placeInJson(TEXT, 'a.b[2].missing');
    expect(place).toEqual({ from: TEXT.indexOf('{"c'), to: TEXT.indexOf('{"c') + 1 });
    expect(at('a.b[9]')).toBe('[');
    expect(at('a2[0]')).toBe('"last"');
  });

  it('takes the last of keys that repeat, and keys as they are meant', () => {
    expect(at('a', '{"a": 1, "\\u0061": 2}')).toBe('2');
  });

  it('does its best in a text that is not JSON yet', () => {
    expect(at('b', '{"a": , "b": 2')).toBe('2');
    expect(at('b', '')).toBeUndefined();
  });
});

describe('placeInLiteral', () => {
  it('minds what is escaped', () => {
    const text = String.raw`  "a\"b\u00e4\\c"`;
    for (const [offset, expected] of [...'a"bä\\c'].map((_, index) => [index, index]).entries()) {
      const place = placeInLiteral(text, 2, offset);
      const rest = JSON.parse(`"${text.slice(place)}`) as string;
      expect(rest).toBe('a"bä\\c'.slice(expected[0]));
    }
  });
});

describe('jsonMistake', () => {
  it('finds none in JSON', () => expect(jsonMistake(TEXT)).toBeUndefined());

  it('shows where it begins', () => {
    expect(jsonMistake('{"a": 1,, "b": 2}')?.from).toBe(8);
    expect(jsonMistake('{"a": 1')?.from).toBe(7);
  });

  it('recognises texts that only look like JSON', () => {
    expect(jsonMistake('{"a": "\\x"}')).toMatchObject({ message: expect.any(String) });
  });
});
