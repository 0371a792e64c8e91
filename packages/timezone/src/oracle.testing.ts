/**
 * The same conversions as `index.ts`, by one look-up in `Intl` per question and without tables: slow, plain, and so an
 * oracle for tests.
 */

const DAY_S = 86_400;
const MS_PER_S = 1_000;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
    formats.set(timezone, format);
  }
  return format;
}

/** Local time minus UTC: Intl prints it at the end of a date, as `GMT`, `GMT+05:45`, `GMT-00:44:30`. */
function offsetAt(unixS: number, timezone: string): number {
  const text = formatOf(timezone).format(unixS * MS_PER_S);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? [];
  const magnitudeS = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -magnitudeS : magnitudeS;
}

/** The wall time at an instant. */
export function wallTime(unixS: number, timezone: string): number {
  return unixS + offsetAt(unixS, timezone);
}

interface Shown {
  /** The first instant with this wall time; undefined if the clock skips it. */
  readonly instant: number | undefined;
  readonly offsetBeforeS: number;
  readonly offsetAfterS: number;
}

function showing(wallS: number, timezone: string): Shown {
  // No offset reaches a day, and no zone changes twice within two.
  const offsetBeforeS = offsetAt(wallS - DAY_S, timezone);
  const offsetAfterS = offsetAt(wallS + DAY_S, timezone);
  const instant = [offsetBeforeS, offsetAfterS]
    .map((offsetS) => wallS - offsetS)
    .find((candidateS) => wallTime(candidateS, timezone) === wallS);
  return { instant, offsetBeforeS, offsetAfterS };
}

/** The first instant with a wall time of at least `wallS`. If the clock skips that time, this is the change itself. */
export function instantOf(wallS: number, timezone: string): number {
  const { instant, offsetBeforeS, offsetAfterS } = showing(wallS, timezone);
  if (instant !== undefined) return instant;
  let [beforeS, afterS] = [wallS - offsetAfterS - 1, wallS - offsetBeforeS];
  while (afterS - beforeS > 1) {
    const middleS = Math.floor((beforeS + afterS) / 2);
    if (wallTime(middleS, timezone) < wallS) beforeS = middleS;
    else afterS = middleS;
  }
  return afterS;
}

/**
 * The first instant with the wall time `wallS`. If the clock skips that time, the result is later by the size of
 * the change.
 */
export function instantShowing(wallS: number, timezone: string): number {
  const { instant, offsetBeforeS } = showing(wallS, timezone);
  return instant ?? wallS - offsetBeforeS;
}
