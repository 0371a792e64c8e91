import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateApiKey, isWellFormedApiKey } from './api-key-text.js';

/** Bit by bit from the polynomial, independently of zlib. */
function crc32(text: string): number {
  let crc = 0xffff_ffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}

function fromBase62(text: string): number {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  return [...text].reduce((value, char) => value * 62 + alphabet.indexOf(char), 0);
}

const mode = fc.constantFrom('live' as const, 'test' as const);

describe('API key text', () => {
  it('has the documented form and checksum', () => {
    fc.assert(
      fc.property(mode, (chosen) => {
        const key = generateApiKey(chosen);
        const [, found, secret, checksum] =
          /^tg_(live|test)_([0-9A-Za-z]{27})_([0-9A-Za-z]{6})$/.exec(key) ?? [];
        expect(found).toBe(chosen);
        expect(fromBase62(checksum ?? '')).toBe(crc32(`tg_${chosen}_${secret}`));
        expect(isWellFormedApiKey(key)).toBe(true);
      }),
    );
  });

  it('never repeats, and uses the whole alphabet', () => {
    const keys = Array.from({ length: 500 }, () => generateApiKey('live'));
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(keys.map((key) => key.slice(8, 35)).join('')).size).toBe(62);
  });

  it('notices any mistyped character', () => {
    fc.assert(
      fc.property(mode, fc.nat(), fc.constantFrom(...'019AZaz_ \n'), (chosen, place, typed) => {
        const key = generateApiKey(chosen);
        const at = place % key.length;
        const mistyped = key.slice(0, at) + typed + key.slice(at + 1);
        expect(isWellFormedApiKey(mistyped)).toBe(mistyped === key);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['', 'tg_live__000000', 'x'.repeat(1_000_000), `tg_live_${'a'.repeat(1_000_000)}_000000`])(
    'refuses a text that is no key (%#)',
    (text) => {
      expect(isWellFormedApiKey(text)).toBe(false);
    },
  );

  it('refuses a key that was cut, padded or changed in case', () => {
    const key = generateApiKey('test');
    for (const text of [
      key.slice(0, -1),
      `${key} `,
      `${key}\n`,
      ` ${key}`,
      `Bearer ${key}`,
      key.toUpperCase(),
    ]) {
      expect(isWellFormedApiKey(text)).toBe(false);
    }
  });
});
