import { describe, expect, it } from 'vitest';
import { readJsonObject } from './json-text.js';

describe('readJsonObject', () => {
  it('reads an object', () => {
    expect(readJsonObject(' {"a": [1]} ')).toEqual({ isObject: true, value: { a: [1] } });
  });

  it('keeps __proto__ a field like any other', () => {
    const reading = readJsonObject('{"__proto__": {"admin": true}}');
    expect(reading.isObject && Object.keys(reading.value)).toEqual(['__proto__']);
  });

  it.each(['', '   \n'])('asks for an event where there is nothing: %j', (text) => {
    expect(readJsonObject(text)).toMatchObject({ isObject: false, message: 'Paste an event as JSON.' });
  });

  it.each(['[]', '"text"', '12', 'null', 'true'])('takes nothing but objects: %s', (text) => {
    expect(readJsonObject(text)).toMatchObject({
      isObject: false,
      message: expect.stringContaining('object'),
    });
  });

  it('returns the line and the column where JSON ends', () => {
    expect(readJsonObject('{\n  "a": 1,\n  b\n}')).toEqual({
      isObject: false,
      message: 'Invalid JSON at line 3, column 3.',
      offset: 14,
    });
  });

  it('returns the end of what is not finished', () => {
    const text = '{"a": ';
    expect(readJsonObject(text)).toMatchObject({ isObject: false, offset: text.length });
  });
});
