import { describe, expect, it } from 'vitest';
import { callsInSecond, dailyRhythm, seededRandom } from './sample-traffic.js';

const DAY_S = 86_400;
const HOUR_S = 3_600;
/** 2026-11-23 00:00 UTC. */
const MIDNIGHT_S = 1_795_392_000;

function callsIn(fromS: number, lengthS: number, seed: number): number {
  const random = seededRandom(seed);
  let calls = 0;
  for (let second = fromS; second < fromS + lengthS; second += 1) calls += callsInSecond(second, random);
  return calls;
}

describe('the sample traffic', () => {
  it('has the same level today as in the history of yesterday, hour by hour', () => {
    for (let hour = 0; hour < 24; hour += 1) {
      const fromS = MIDNIGHT_S + hour * HOUR_S;
      const [history, live] = [callsIn(fromS - DAY_S, HOUR_S, 1), callsIn(fromS, HOUR_S, 2)];
      expect(live / history).toBeGreaterThan(0.8);
      expect(live / history).toBeLessThan(1.25);
    }
  });

  it('follows the time of day, and is a history that is soon made', () => {
    const night = callsIn(MIDNIGHT_S + 2 * HOUR_S, HOUR_S, 1);
    const afternoon = callsIn(MIDNIGHT_S + 11 * HOUR_S, HOUR_S, 1);
    expect(afternoon / night).toBeCloseTo(
      dailyRhythm(MIDNIGHT_S + 11.5 * HOUR_S) / dailyRhythm(MIDNIGHT_S + 2.5 * HOUR_S),
      0,
    );
    const day = callsIn(MIDNIGHT_S, DAY_S, 1);
    expect(day).toBeGreaterThan(15_000);
    expect(day).toBeLessThan(30_000);
  });
});
