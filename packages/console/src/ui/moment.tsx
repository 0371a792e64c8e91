import { nowS } from '../clock.js';
import { distance } from '../distance.js';
import { dateTime } from '../format.js';

/** The time until or since a moment. The title has its date and time. */
export function Moment({ at, timezone }: { readonly at: number; readonly timezone: string }) {
  return (
    <time dateTime={new Date(at * 1_000).toISOString()} title={`${dateTime(at, timezone)} ${timezone}`}>
      {distance(at, nowS())}
    </time>
  );
}
