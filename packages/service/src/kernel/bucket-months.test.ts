import { Temporal } from '@js-temporal/polyfill';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketStart, bucketStarts, nextBucketStart } from './bucket.js';
import { ZONES } from './bucket.testing.js';

const DAY_S = 86_400;
const unix = (iso: string): number => Date.parse(iso) / 1_000;

describe('calendar months', () => {
  const startOf = (text: string) => Temporal.ZonedDateTime.from(text).epochMilliseconds / 1_000;

  it('begin on the first of the month where the clock is, whatever its length and whenever clocks change', () => {
    const zone = 'America/New_York';
    const [fromS, toS] = [startOf(`2024-01-31T23:59:59[${zone}]`), startOf(`2024-04-01T00:00:01[${zone}]`)];
    const starts = ['2024-01-01', '2024-02-01', '2024-03-01', '2024-04-01'].map((day) =>
      startOf(`${day}[${zone}]`),
    );
    expect(bucketStarts(fromS, toS, { months: 1 }, zone)).toEqual(starts);
    // 29 days, and a month of 31 that lacks an hour.
    expect((starts[2] ?? 0) - (starts[1] ?? 0)).toBe(29 * DAY_S);
    expect((starts[3] ?? 0) - (starts[2] ?? 0)).toBe(31 * DAY_S - 3_600);
  });

  it.each(ZONES)('%s: are those of another calendar', (timezone) => {
    const time = fc.integer({ min: unix('1975-01-01T00:00:00Z'), max: unix('2036-01-01T00:00:00Z') });
    fc.assert(
      fc.property(time, fc.constantFrom(1, 1, 3, 12), (atS, months) => {
        const local = Temporal.Instant.fromEpochMilliseconds(atS * 1_000).toZonedDateTimeISO(timezone);
        const first = local.toPlainDate().with({ day: 1 });
        const start = first.subtract({ months: (12 * (first.year - 1970) + first.month - 1) % months });
        const startS = (date: Temporal.PlainDate) =>
          date.toZonedDateTime({ timeZone: timezone }).epochMilliseconds / 1_000;
        expect(bucketStart(atS, { months }, timezone)).toBe(startS(start));
        expect(nextBucketStart(atS, { months }, timezone)).toBe(startS(start.add({ months })));
      }),
      { numRuns: 60 },
    );
  });
});
