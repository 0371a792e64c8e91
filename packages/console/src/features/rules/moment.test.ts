import { describe, expect, it } from 'vitest';
import { momentText, unixSecondsOf } from './moment.js';

describe('moments in a field', () => {
  it('are in UTC, to the second', () => {
    expect(momentText(1_795_183_509)).toBe('2026-11-20T14:05:09');
    expect(unixSecondsOf('2026-11-20T14:05:09')).toBe(1_795_183_509);
    expect(unixSecondsOf('2026-11-20T14:05')).toBe(1_795_183_500);
  });

  it('are not shown where they are out of bounds', () => {
    expect(momentText(253_402_300_799)).toBe('9999-12-31T23:59:59');
    expect(momentText(Number.MAX_SAFE_INTEGER)).toBe('');
    expect(momentText(-1)).toBe('');
  });

  it('are none while the field is empty', () => expect(unixSecondsOf('')).toBeUndefined());
});
