import { describe, expect, it } from 'vitest';
import { isTimezone, zoneOf } from './index.js';

describe('isTimezone', () => {
  it('knows every zone that Intl lists', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => !isTimezone(name))).toEqual([]);
  });

  it.each([
    ...[
      'UTC',
      'GMT',
      'Etc/UTC',
      'Etc/GMT+5',
      'Etc/GMT0',
      'EST5EDT',
      'US/East-Indiana',
      'Asia/Kolkata',
      'Asia/Calcutta',
    ],
    ...[
      'Europe/Kyiv',
      'Europe/Kiev',
      'America/Port-au-Prince',
      'America/Knox_IN',
      'America/Argentina/Ushuaia',
    ],
    ...[
      'Australia/ACT',
      'Antarctica/DumontDUrville',
      'Africa/Dar_es_Salaam',
      'Europe/Isle_of_Man',
      'NZ-CHAT',
    ],
  ])('accepts %s', (name) => {
    expect(isTimezone(name)).toBe(true);
  });

  it.each([
    ...[
      '',
      'Local',
      'local',
      'localtime',
      'Factory',
      'Z',
      '+05:00',
      '-0800',
      '+05',
      'UTC+5',
      'GMT+5',
      'Etc/GMT+05',
    ],
    ...['utc', 'asia/kolkata', 'Asia/KOLKATA', 'ASIA/CALCUTTA', 'America/new_York', 'Europe/Isle_Of_Man'],
    ...[
      'IST',
      'PST',
      'SystemV/AST4',
      'Etc/Unknown',
      'Mars/Olympus',
      'Asia/',
      '/',
      'Asia',
      ' UTC',
      'UTC\n',
      'UTC\0',
    ],
    ...['__proto__', 'constructor', `Asia/${'A'.repeat(1_000_000)}`],
  ])('refuses %.40j', (name) => {
    expect(isTimezone(name)).toBe(false);
    expect(() => zoneOf(name)).toThrow(RangeError);
  });
});

describe('Zone', () => {
  it.each([
    ['America/New_York', 1_704_067_200, -5 * 3_600],
    ['Asia/Kathmandu', 1_704_067_200, 5.75 * 3_600],
    ['Australia/Lord_Howe', 1_704_067_200, 11 * 3_600],
    ['UTC', 0, 0],
    ['Africa/Monrovia', 0, -(44 * 60 + 30)],
  ])('%s at %i', (name, atS, offsetS) => {
    expect(zoneOf(name).wallTime(atS) - atS).toBe(offsetS);
  });

  it('finds the first instant of a wall time that is shown twice, and the change where it is skipped', () => {
    const newYork = zoneOf('America/New_York');
    const wall = (text: string) => Date.parse(`${text}Z`) / 1_000;
    expect(newYork.instantOf(wall('2024-11-03T01:30:00'))).toBe(wall('2024-11-03T05:30:00'));
    expect(newYork.instantOf(wall('2024-03-10T02:30:00'))).toBe(wall('2024-03-10T07:00:00'));
  });
});
