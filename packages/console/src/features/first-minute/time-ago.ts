import { distance } from '../../distance.js';

const MINUTE_S = 60;

/** How long ago something came, to the second while it is fresh: who waits for it looks at every one. */
export function timeAgo(thenS: number, nowS: number): string {
  // The clocks of the service and of the browser differ.
  const seconds = Math.max(0, Math.floor(nowS - thenS));
  if (seconds === 0) return 'just now';
  return seconds < MINUTE_S ? `${seconds} s ago` : distance(thenS, nowS);
}
