/** Local times as the console shows and reads them. Times are Unix seconds, see `@tollgate/timezone`. */
import { isInCalendar, zoneOf } from '@tollgate/timezone';

const MS_PER_S = 1_000;

/**
 * Wall time to the minute, in the format of `datetime-local` inputs: `2026-11-20T14:05`. An empty text for a time that
 * no calendar of the engine reaches.
 */
export function wallText(unixS: number, timezone: string): string {
  if (!isInCalendar(unixS)) return '';
  const wallS = zoneOf(timezone).wallTime(unixS);
  return new Date(wallS * MS_PER_S).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}

/** The instant of such a text in the timezone; undefined if the text is not a time, or out of the engine's calendar. */
export function instantOfText(text: string, timezone: string): number | undefined {
  const wallS = Date.parse(`${text}Z`) / MS_PER_S;
  return isInCalendar(wallS) ? zoneOf(timezone).instantShowing(wallS) : undefined;
}
