import { describe, expect, it } from 'vitest';
import { changeSince, percentText, previousRange } from './totals.js';

const at = (text: string) => Date.parse(text) / 1_000;

describe('the period before', () => {
  it('the last hour is the hour before', () => {
    expect(previousRange({ last_seconds: 3_600 }, 10_000, 'UTC')).toEqual({ from: 2_800, to: 6_400 });
  });

  it('a range that has ended is the same time before', () => {
    expect(previousRange({ from: 5_000, to: 7_000 }, 10_000, 'UTC')).toEqual({ from: 3_000, to: 5_000 });
  });

  it('a range that has not ended is compared as far as it has passed', () => {
    expect(previousRange({ from: 9_000, to: 11_000 }, 10_000, 'UTC')).toEqual({ from: 7_000, to: 8_000 });
  });

  it('a calendar month is the month before, in the timezone of the board', () => {
    const month = { from: at('2026-03-01T00:00:00-05:00'), to: at('2026-04-01T00:00:00-04:00') };
    expect(previousRange(month, at('2026-05-01T00:00:00Z'), 'America/New_York')).toEqual({
      from: at('2026-02-01T00:00:00-05:00'),
      to: month.from,
    });
  });

  it('a month that is longer than the one before is compared with all of it', () => {
    const month = { from: at('2026-03-01T00:00:00Z'), to: at('2026-04-01T00:00:00Z') };
    expect(previousRange(month, at('2026-03-31T00:00:00Z'), 'UTC')).toEqual({
      from: at('2026-02-01T00:00:00Z'),
      to: at('2026-03-01T00:00:00Z'),
    });
    expect(previousRange(month, at('2026-03-11T00:00:00Z'), 'UTC')).toEqual({
      from: at('2026-02-01T00:00:00Z'),
      to: at('2026-02-11T00:00:00Z'),
    });
  });
});

describe('a change', () => {
  it.each<[string | undefined, string | undefined, object | undefined]>([
    ['110', '100', { direction: 1, percent: '10.0' }],
    ['50', '100', { direction: -1, percent: '50.0' }],
    ['100', '100.0', { direction: 0, percent: '0.0' }],
    ['0.000000000000000002', '0.000000000000000001', { direction: 1, percent: '100.0' }],
    ['10000000000000000.000000000000000001', '10000000000000000', { direction: 1, percent: '0.0' }],
    ['5', undefined, { direction: 1, percent: undefined }],
    [undefined, '5', { direction: -1, percent: '100.0' }],
    ['-5', '-10', { direction: 1, percent: '50.0' }],
    [undefined, undefined, undefined],
  ])('from %s, before %s', (now, before, expected) => expect(changeSince(now, before)).toEqual(expected));

  it.each([
    ['10.0', '10.0 %'],
    ['999.9', '999.9 %'],
    ['1000.0', '> 999 %'],
    [undefined, 'new'],
  ])('of %s percent is shown as %s', (percent, text) =>
    expect(percentText({ direction: 1, percent })).toBe(text),
  );
});
