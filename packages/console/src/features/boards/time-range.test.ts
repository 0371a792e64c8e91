import { describe, expect, it } from 'vitest';
import { instantOfText, wallText } from '../../timezone.js';
import { addressOf, rangeLabel, rangeOf, rangeProblem } from './time-range.js';

describe('a time range', () => {
  it.each([{ last_seconds: 900 }, { from: 0, to: 1_790_000_000 }])(
    'is the same out of its address: %o',
    (range) => {
      expect(rangeOf(new URLSearchParams(addressOf(range)))).toEqual(range);
    },
  );

  it.each([
    '',
    'last=0',
    'last=x',
    'last=-1',
    'from=1',
    'from=2&to=1',
    'from=1&to=1',
    'from=1&to=99999999999',
    'last=1e3',
  ])('is none in the address "%s"', (address) =>
    expect(rangeOf(new URLSearchParams(address))).toBeUndefined(),
  );

  it('is named by its preset, or by its ends in the timezone', () => {
    expect(rangeLabel({ last_seconds: 3_600 }, 'UTC')).toBe('Last hour');
    expect(rangeLabel({ from: 0, to: 86_400 }, 'Europe/Berlin')).toBe(
      '1 Jan 1970, 01:00 to 2 Jan 1970, 01:00',
    );
  });

  it('is typed in the timezone, and refused the wrong way round', () => {
    const from = instantOfText('2026-10-25T00:00', 'Europe/Berlin');
    const to = instantOfText('2026-10-26T00:00', 'Europe/Berlin');
    expect((to ?? 0) - (from ?? 0)).toBe(25 * 3_600);
    expect(wallText(from ?? 0, 'Europe/Berlin')).toBe('2026-10-25T00:00');
    expect(rangeProblem(from, to)).toBeUndefined();
    expect(rangeProblem(to, from)).toContain('before');
    expect(rangeProblem(-1, to)).toContain('1970');
    expect(instantOfText('', 'UTC')).toBeUndefined();
  });
});
