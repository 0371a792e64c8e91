const ISO_SECONDS_CHARS = '2026-11-20T14:05:09'.length;

/** The end of the year 9999. */
const UNIX_SECONDS_MAX = 253_402_300_799;

/**
 * A time in the format of `datetime-local` inputs: in UTC, to the second. Empty for times outside the API's
 * range.
 */
export function momentText(unixS: number): string {
  if (unixS < 0 || unixS > UNIX_SECONDS_MAX) return '';
  return new Date(unixS * 1_000).toISOString().slice(0, ISO_SECONDS_CHARS);
}

/** Parses the value of such an input; undefined if it is empty. */
export function unixSecondsOf(text: string): number | undefined {
  const ms = Date.parse(`${text}Z`);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1_000);
}
