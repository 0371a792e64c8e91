import { DAY_S } from '@tollgate/timezone';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const UNITS = [
  ['day', DAY_S],
  ['hour', HOUR_S],
  ['minute', MINUTE_S],
] as const;

const format = new Intl.RelativeTimeFormat('en-GB', { numeric: 'always' });

/**
 * The time until or since a moment: `in 3 days`, `2 hours ago`, `just now`. It uses the largest unit of which
 * there are at least two.
 */
export function distance(unixS: number, nowS: number): string {
  const apartS = unixS - nowS;
  const [unit, lengthS] = unitOf(Math.abs(apartS)) ?? ['minute', MINUTE_S];
  const rounded = Math.trunc(apartS / lengthS);
  if (rounded !== 0) return format.format(rounded, unit);
  return apartS > 0 ? 'within a minute' : 'just now';
}

/** A duration in the same units: `12 seconds`, `90 minutes`, `2 hours`. */
export function duration(seconds: number): string {
  const [unit, lengthS] = unitOf(seconds) ?? ['second', 1];
  return new Intl.NumberFormat('en-GB', { style: 'unit', unit, unitDisplay: 'long' }).format(
    Math.trunc(seconds / lengthS),
  );
}

/** The largest unit of which there are at least two. */
function unitOf(seconds: number) {
  return UNITS.find(([, length]) => seconds >= 2 * length);
}
