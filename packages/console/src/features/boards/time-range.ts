import { BOARD_TIME_RANGES_S } from '@tollgate/contract';

/** The last so many seconds up to now, or a stretch of time: Unix seconds, `to` exclusive. */
export type TimeRange = { readonly last_seconds: number } | { readonly from: number; readonly to: number };

const LABELS: Readonly<Record<(typeof BOARD_TIME_RANGES_S)[number], string>> = {
  300: 'Last 5 minutes',
  900: 'Last 15 minutes',
  3600: 'Last hour',
  86400: 'Last 24 hours',
  604800: 'Last 7 days',
  2592000: 'Last 30 days',
};

export const PRESETS = BOARD_TIME_RANGES_S.map((seconds) => ({ seconds, label: LABELS[seconds] }));

export function rangeLabel(range: TimeRange): string {
  if ('from' in range) return 'Custom range';
  return (
    PRESETS.find(({ seconds }) => seconds === range.last_seconds)?.label ??
    `Last ${range.last_seconds} seconds`
  );
}
