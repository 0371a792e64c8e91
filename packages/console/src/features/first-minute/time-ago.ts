import { distance } from '../../distance.js';

const MINUTE_S = 60;

/** The time since an event, in seconds during the first minute. */
export function timeAgo(thenS: number, nowS: number): string {
  // The clocks of the service and the browser may differ.
  const seconds = Math.max(0, Math.floor(nowS - thenS));
  if (seconds === 0) return 'just now';
  return seconds < MINUTE_S ? `${seconds} s ago` : distance(thenS, nowS);
}
