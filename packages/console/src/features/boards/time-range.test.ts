import { describe, expect, it } from 'vitest';
import { instantOfText, wallText } from '../../timezone.js';
import { addressOf, rangeAt, rangeLabel, rangeOf, rangeProblem } from './time-range.js';

describe('a time range', () => {
  it.each([
    { last_seconds: 900 },
    { from: 0, to: 1_790_000_000 },
    { month: 'this' },
    { month: 'last' },
  ] as const)('is the same out of its address: %o', (range) => {
    expect(rangeOf(new URLSearchParams(addressOf(range)))).toEqual(range);
  });

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
    'month=next',
  ])('is none in the address "%s"', (address) =>
    expect(rangeOf(new URLSearchParams(address))).toBeUndefined(),
  );

  it('is named by its preset, or by its ends in the timezone', () => {
    expect(rangeLabel({ last_seconds: 3_600 }, 'UTC')).toBe('Last hour');
    expect(rangeLabel({ from: 0, to: 86_400 }, 'Europe/Berlin')).toBe(
      '1 Jan 1970, 01:00 to 2 Jan 1970, 01:00',
    );
  });

  it.each([
    ['this', '2026-11-01T00:00+01:00', '2026-12-01T00:00+01:00'],
    // With an hour more: summer time ends in it.
    ['last', '2026-10-01T00:00+02:00', '2026-11-01T00:00+01:00'],
  ] as const)('is %s month by the clock of the board', (month, from, to) => {
    const firstS = Date.parse('2026-10-31T23:30Z') / 1_000;
    const range = { from: Date.parse(from) / 1_000, to: Date.parse(to) / 1_000 };
    for (const nowS of [firstS, firstS + 20 * 86_400]) {
      expect(rangeAt({ month }, nowS, 'Europe/Berlin')).toEqual(range);
    }
    expect(rangeLabel({ month }, 'Europe/Berlin')).toBe(month === 'this' ? 'This month' : 'Last month');
  });

  it.each([
    [59_340, 'Last 16 hours 29 minutes'],
    [45, 'Last 45 seconds'],
    [60, 'Last minute'],
    [61, 'Last 1 minute 1 second'],
    [7_200, 'Last 2 hours'],
    [86_460, 'Last 1 day 1 minute'],
    [172_800, 'Last 2 days'],
    [4_294_967_295, 'Last 49,710 days 6 hours 28 minutes 15 seconds'],
  ])('of %i seconds, which no preset has, is said in whole units', (last_seconds, label) =>
    expect(rangeLabel({ last_seconds }, 'UTC')).toBe(label),
  );

  it('is typed in the timezone, and refused the wrong way round', () => {
    const from = instantOfText('2026-10-25T00:00', 'Europe/Berlin');
    const to = instantOfText('2026-10-26T00:00', 'Europe/Berlin');
    expect((to ?? 0) - (from ?? 0)).toBe(25 * 3_600);
    expect(wallText(from ?? 0, 'Europe/Berlin')).toBe('2026-10-25T00:00');
    expect(rangeProblem(from, to)).toBeUndefined();
    expect(rangeProblem(to, from)).toContain('after the start');
    expect(rangeProblem(-1, to)).toContain('1970');
    expect(instantOfText('', 'UTC')).toBeUndefined();
    expect(instantOfText('0001-01-01T00:00', 'UTC')).toBeUndefined();
    expect(instantOfText('9999-01-01T00:00', 'UTC')).toBeUndefined();
    expect(wallText(1e12, 'UTC')).toBe('');
  });
});
