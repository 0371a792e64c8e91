import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from './clock.js';
import { newId, parseRawEventId, rawEventHex, rawEventIdText, timeOfId } from './id.js';

describe('newId', () => {
  it('is a UUIDv7 of the clock', () => {
    const id = newId('prj', new ManualClock(0x0123_4567_89ab));
    expect(id).toMatch(/^prj_0123456789ab7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
  });

  it('sorts by time, and by turn within a millisecond', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2 ** 40 }), { minLength: 1 }), (steps) => {
        const clock = new ManualClock(0);
        const ids = steps.map((stepMs) => {
          clock.advanceMs(stepMs);
          return newId('key', clock);
        });
        expect(ids).toEqual([...ids].sort());
      }),
    );
    const still = new ManualClock(1_760_000_000_000);
    const ids = Array.from({ length: 2_000 }, () => newId('key', still));
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each([-1, 2 ** 48, Number.NaN])('refuses the time %d', (ms) => {
    expect(() => newId('prj', new ManualClock(ms))).toThrow(RangeError);
  });

  it('refuses a malformed prefix', () => {
    expect(() => newId('', new ManualClock(0))).toThrow(RangeError);
    expect(() => newId('a_b', new ManualClock(0))).toThrow(RangeError);
  });
});

describe('timeOfId', () => {
  it('returns when an id was made', () => {
    for (const ms of [0, 1_760_000_000_123, 2 ** 48 - 1]) {
      expect(timeOfId('led', newId('led', new ManualClock(ms)))).toBe(ms);
    }
  });

  it.each([
    '',
    'led_',
    'led_1',
    newId('acct', new ManualClock(5)),
    `${newId('led', new ManualClock(5))}0`,
    newId('led', new ManualClock(5)).toUpperCase(),
    `led_${'0'.repeat(32)}`,
  ])('does not take %j for an id', (text) => {
    expect(timeOfId('led', text)).toBeUndefined();
  });
});

describe('raw event ids', () => {
  const anyTime = fc.nat({ max: 0xffff_ffff });

  it('has a fixed value for fixed input', () => {
    // printf 'ten_1\nprj_1\n1760000000\nk' | sha256sum
    expect(rawEventHex('ten_1', 'prj_1', 1_760_000_000, 'k')).toBe('68e778009514af8aeb126ceef70cc9b2');
  });

  it('depends on its input alone', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), anyTime, fc.string(), (tenant, project, time, key) => {
        const hex = rawEventHex(tenant, project, time, key);
        expect(rawEventHex(tenant, project, time, key)).toBe(hex);
        expect(hex).toMatch(/^[0-9a-f]{32}$/);
        expect(Number.parseInt(hex.slice(0, 8), 16)).toBe(time);
        expect(rawEventHex(`${tenant}x`, project, time, key)).not.toBe(hex);
        expect(rawEventHex(tenant, `${project}x`, time, key)).not.toBe(hex);
        expect(rawEventHex(tenant, project, time, `${key}x`)).not.toBe(hex);
        expect(rawEventHex(tenant, project, time === 0 ? 1 : time - 1, key).slice(8)).not.toBe(hex.slice(8));
      }),
    );
  });

  it('is new each time without a key, which an empty key is not', () => {
    const make = (key?: string) => rawEventHex('ten_1', 'prj_1', 1_760_000_000, key);
    expect(new Set(Array.from({ length: 3_000 }, () => make())).size).toBe(3_000);
    expect(make('')).toBe(make(''));
  });

  it('sorts by occurred_at', () => {
    fc.assert(
      fc.property(anyTime, anyTime, fc.string(), (a, b, key) => {
        const [first, second] = [rawEventHex('t', 'p', a, key), rawEventHex('t', 'p', b, undefined)];
        if (a !== b) expect(first < second).toBe(a < b);
      }),
    );
  });

  it.each([-1, 0x1_0000_0000, 1.5, Number.NaN])('refuses the time %d', (time) => {
    expect(() => rawEventHex('t', 'p', time, 'k')).toThrow(RangeError);
  });

  it('goes to text and back', () => {
    const hex = rawEventHex('t', 'p', 1, 'k');
    expect(parseRawEventId(rawEventIdText(hex))).toBe(hex);
    const malformed = [
      '',
      hex,
      `evt_${hex.toUpperCase()}X`,
      `evt_${hex}0`,
      `evt_${hex.slice(1)}`,
      `xevt_${hex}`,
    ];
    for (const text of [...malformed, `evt_${hex}\n`]) expect(parseRawEventId(text)).toBeUndefined();
  });
});
