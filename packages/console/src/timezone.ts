/**
 * Conversions between Unix time and wall time in IANA timezones, with the browser's timezone data. Times are Unix
 * seconds. Wall time is seconds since 1970-01-01T00:00 on the local clock.
 *
 * The service has a timezone engine of its own (`kernel/timezone.ts`), which keeps tables of offsets because it cuts
 * time for millions of events. The console only shows and reads local times, without code of the service. A test proves
 * that both agree (`tests/bucket-starts.test.ts`).
 */

export const DAY_S = 86_400;
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

/** Wall time to the minute, in the format of `datetime-local` inputs: `2026-11-20T14:05`. */
export function wallText(unixS: number, timezone: string): string {
  return new Date(wallTime(unixS, timezone) * MS_PER_S).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}

/** The instant of such a text in the timezone; undefined if the text is not a time. */
export function instantOfText(text: string, timezone: string): number | undefined {
  const ms = Date.parse(`${text}Z`);
  return Number.isNaN(ms) ? undefined : instantShowing(ms / MS_PER_S, timezone);
}
