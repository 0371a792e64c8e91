import { nowS } from '../clock.js';
import { distance } from '../distance.js';
import { dateTime } from '../format.js';

/** A moment, in a timezone, with how far away it is. */
export function Moment({ at, timezone }: { readonly at: number; readonly timezone: string }) {
  return (
    <time dateTime={new Date(at * 1_000).toISOString()} title={`${dateTime(at, timezone)} ${timezone}`}>
      {distance(at, nowS())}
    </time>
  );
}
