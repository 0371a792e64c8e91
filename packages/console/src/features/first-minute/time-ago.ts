const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** How long ago, in the coarsest unit that says something: `3 s ago`, `2 min ago`. */
export function timeAgo(thenS: number, nowS: number): string {
  // The clocks of the service and of the browser differ.
  const seconds = Math.max(0, Math.floor(nowS - thenS));
  if (seconds < 1) return 'just now';
  if (seconds < MINUTE_S) return `${seconds} s ago`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min ago`;
  if (seconds < DAY_S) return `${Math.floor(seconds / HOUR_S)} h ago`;
  const days = Math.floor(seconds / DAY_S);
  return days === 1 ? 'a day ago' : `${days} days ago`;
}
