import { axisNumber, decimalShort } from '../../format.js';
import { useTheme } from '../../theme.js';
import { seriesColor } from './palette.js';
import type { Series } from './series.js';

/** What each colour is, and what it comes to: over the range or, while one points at the chart, at that moment. */
export function Legend({
  series,
  hovered,
}: {
  readonly series: readonly Series[];
  readonly hovered: number | undefined;
}) {
  const theme = useTheme();
  return (
    <ul className="tabular max-h-28 overflow-y-auto px-4 pb-3 text-xs">
      {series.map(({ label, unit, total, values }, index) => (
        <li key={`${label} ${unit}`} className="flex items-center gap-2 py-0.5">
          <span className="size-2.5 shrink-0 rounded-xs" style={{ background: seriesColor(theme, index) }} />
          <span className="min-w-0 truncate text-ink-soft">{label}</span>
          <span
            className="ml-auto whitespace-nowrap"
            title={hovered === undefined ? `${total} ${unit}` : undefined}
          >
            {hovered === undefined ? decimalShort(total) : axisNumber(values[hovered] ?? 0)}
            {unit !== '' && <span className="text-ink-faint"> {unit}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
