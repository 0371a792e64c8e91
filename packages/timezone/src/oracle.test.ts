import { describe, expect, it } from 'vitest';
import { zoneOf } from './index.js';
import { instantOf, instantShowing, wallTime } from './oracle.testing.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

describe('local time', () => {
  const zones = Intl.supportedValuesOf('timeZone');

  it(`is what the oracle says in all ${zones.length} timezones`, () => {
    let changes = 0;
    for (const [index, timezone] of zones.entries()) {
      // A different year for each of 65 zones in a row, from 1972 to 2036.
      const year = 1972 + ((index * 7) % 65);
      for (const atS of monthsOf(year)) expectSameTime(atS, timezone);
      for (const changeS of changesIn(year, timezone)) {
        changes += 1;
        for (let aroundS = -3 * HOUR_S; aroundS <= 3 * HOUR_S; aroundS += 15 * 60) {
          expectSameTime(changeS + aroundS, timezone);
        }
        for (const aroundS of [-1, 0, 1]) expectSameTime(changeS + aroundS, timezone);
      }
    }
    expect(changes).toBeGreaterThan(100);
  });
});

function expectSameTime(atS: number, timezone: string): void {
  const zone = zoneOf(timezone);
  const wallS = zone.wallTime(atS);
  // Counted on with the offset of the day before: after a change, some clocks skip this time.
  const skippedS = atS + wallTime(atS - DAY_S, timezone) - (atS - DAY_S);
  const expected = [wallS, skippedS].flatMap((wall) => [
    instantOf(wall, timezone),
    instantShowing(wall, timezone),
  ]);
  const found = [wallS, skippedS].flatMap((wall) => [zone.instantOf(wall), zone.instantShowing(wall)]);
  expect([wallTime(atS, timezone), ...expected], `${timezone} at ${atS}`).toEqual([wallS, ...found]);
}

function monthsOf(year: number): number[] {
  return Array.from({ length: 13 }, (_, month) => Date.UTC(year, month) / 1_000);
}

/** The instants of a year at which the clock of a timezone is changed; one of each month. */
function changesIn(year: number, timezone: string): number[] {
  const offsetAt = (atS: number) => wallTime(atS, timezone) - atS;
  const months = monthsOf(year);
  return months.slice(1).flatMap((endS, index) => {
    let [lowS, highS] = [months[index] ?? endS, endS];
    if (offsetAt(lowS) === offsetAt(highS)) return [];
    while (highS - lowS > 1) {
      const middleS = Math.floor((lowS + highS) / 2);
      if (offsetAt(middleS) === offsetAt(lowS)) lowS = middleS;
      else highS = middleS;
    }
    return [highS];
  });
}
