import { describe, expect, it } from 'vitest';
import { orderedText, parseLossless } from './json.js';

describe('orderedText', () => {
  it('prints equal contents alike, with each digit and each order of a list', () => {
    const text = (json: string) => orderedText(parseLossless(json));
    const one = '{"b":[{"y":1,"x":0.1234567890123456789},2],"a":null,"__proto__":"c"}';
    const other = ' {"__proto__":"c","a":null, "b":[{"x":0.1234567890123456789,"y":1},2]}';
    expect(text(other)).toBe(text(one));
    expect(text(one)).toBe('{"__proto__":"c","a":null,"b":[{"x":0.1234567890123456789,"y":1},2]}');
    expect(text('[2,1]')).not.toBe(text('[1,2]'));
  });
});
