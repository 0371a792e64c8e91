import { describe, expect, test } from 'vitest';
import {
  canonicalLimitPeriod,
  canonicalPeriod,
  type LimitPeriod,
  PERIOD_COUNT_MAX,
  type Period,
  parseLimitPeriod,
  parsePeriod,
} from './period.js';

describe('parsePeriod', () => {
  test.each([
    ['lifetime', { kind: 'lifetime' }],
    ['minute', { kind: 'calendar', unit: 'minute' }],
    ['hour', { kind: 'calendar', unit: 'hour' }],
    ['day', { kind: 'calendar', unit: 'day' }],
    ['week', { kind: 'calendar', unit: 'week' }],
    ['month', { kind: 'calendar', unit: 'month' }],
    ['7d', { kind: 'anchored', unit: 'day', count: 7 }],
    ['5h', { kind: 'anchored', unit: 'hour', count: 5 }],
    ['5 day', { kind: 'anchored', unit: 'day', count: 5 }],
    ['2 week', { kind: 'anchored', unit: 'week', count: 2 }],
    ['2w', { kind: 'anchored', unit: 'week', count: 2 }],
    ['5 month', { kind: 'anchored', unit: 'month', count: 5 }],
    ['5m', { kind: 'anchored', unit: 'minute', count: 5 }],
    ['5 minutes', { kind: 'anchored', unit: 'minute', count: 5 }],
    ['12 months', { kind: 'anchored', unit: 'month', count: 12 }],
    ['1 hours', { kind: 'anchored', unit: 'hour', count: 1 }],
  ])('%s', (text, expected) => {
    expect(parsePeriod(text)).toEqual(expected);
  });

  test.each([
    '',
    'Hour',
    'year',
    '0d',
    '07d',
    '-1d',
    '1.5h',
    '5',
    'd',
    '5mo',
    '5 min',
    'minutes',
    '5  day',
    ' 5d',
    '5d ',
    '5d\n',
    '9999999d',
    '5constructor',
    '1 toString',
    '٣d',
  ])('not %j', (text) => {
    expect(parsePeriod(text)).toBeUndefined();
  });

  test.each([
    ['m', PERIOD_COUNT_MAX.minute],
    ['h', PERIOD_COUNT_MAX.hour],
    ['d', PERIOD_COUNT_MAX.day],
    ['w', PERIOD_COUNT_MAX.week],
    ['month', PERIOD_COUNT_MAX.month],
  ])('at most so many: %s', (name, max) => {
    expect(parsePeriod(`${max}${name}`)).toBeDefined();
    expect(parsePeriod(`${max + 1}${name}`)).toBeUndefined();
  });
});

test('one text for all ways to write a period', () => {
  const written = [
    'lifetime',
    'week',
    '7d',
    '7 day',
    '7 days',
    '5hours',
    '2 week',
    '1 months',
    '5 minute',
    'minute',
  ];
  const canonical = written.map((text) => canonicalPeriod(parsePeriod(text) as Period));
  expect(canonical).toEqual(['lifetime', 'week', '7d', '7d', '7d', '5h', '2w', '1 month', '5m', 'minute']);
  expect(canonical.map(parsePeriod)).toEqual(written.map(parsePeriod));
});

describe('a window that usage determines', () => {
  const canonical = (text: string) => canonicalLimitPeriod(parseLimitPeriod(text) as LimitPeriod);

  test('lasts minutes, hours, days or weeks, and has one text for each duration', () => {
    expect(parseLimitPeriod('first_use:5h')).toEqual({ kind: 'first_use', durationS: 18_000 });
    expect(['first_use:90m', 'first_use:1 day', 'first_use:1w', '7 days'].map(canonical)).toEqual([
      'first_use:90m',
      'first_use:1440m',
      'first_use:10080m',
      '7d',
    ]);
    expect(parseLimitPeriod(canonical('first_use:2w'))).toEqual(parseLimitPeriod('first_use:14d'));
  });

  test('lasts at most a year', () => {
    expect(canonical('first_use:365d')).toBe('first_use:525600m');
    expect(parseLimitPeriod('first_use:366d')).toBeUndefined();
  });

  test.each([
    'first_use',
    'first_use:',
    'first_use:day',
    'first_use:1 month',
    'first_use: 5h',
    'first_use:lifetime',
  ])('is not %j', (text) => {
    expect(parseLimitPeriod(text)).toBeUndefined();
  });

  test('may slide, for at most 31 days', () => {
    expect(parseLimitPeriod('sliding:1m')).toEqual({ kind: 'sliding', durationS: 60 });
    expect(canonical('sliding:31d')).toBe('sliding:44640m');
    expect(['sliding:32d', 'sliding:0m', 'sliding:lifetime'].map(parseLimitPeriod)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('is no period of a counter', () => {
    expect(['first_use:5h', 'sliding:5h'].map(parsePeriod)).toEqual([undefined, undefined]);
  });
});
