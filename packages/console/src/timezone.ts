/**
 * Offsets of IANA timezones, from the tables that the browser carries. Times are Unix seconds. Wall time is
 * counted likewise: seconds from 1970-01-01T00:00 as the local clock shows it.
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

/** What the local clock shows at that instant. */
export function wallTime(unixS: number, timezone: string): number {
  return unixS + offsetAt(unixS, timezone);
}

interface Shown {
  /** The first instant at which the clock shows the time; undefined where it skips it. */
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

/** The first instant at which the local clock shows `wallS` or more: where it skips that time, the change itself. */
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
 * The instant at which the local clock shows `wallS`; of a time that it skips, as much later as the clock was
 * set forward.
 */
export function instantShowing(wallS: number, timezone: string): number {
  const { instant, offsetBeforeS } = showing(wallS, timezone);
  return instant ?? wallS - offsetBeforeS;
}

/** Wall time as the browser's own control reads and writes it, to the minute: `2026-11-20T14:05`. */
export function wallText(unixS: number, timezone: string): string {
  return new Date(wallTime(unixS, timezone) * MS_PER_S).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}

/** The instant that such a text names in the timezone; undefined for text that is no time. */
export function instantOfText(text: string, timezone: string): number | undefined {
  const ms = Date.parse(`${text}Z`);
  return Number.isNaN(ms) ? undefined : instantShowing(ms / MS_PER_S, timezone);
}
