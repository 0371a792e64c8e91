import { useState } from 'react';
import { dateMinute, decimal, decimalExact } from '../../format.js';
import { Button } from '../../ui/button.js';
import type { SeriesSet } from './series.js';

/** Cells that are shown at once, and more of them at each wish: a page of 50,000 would not move any more. */
const CELLS_MAX = 3_000;

/** The numbers of a chart, the latest first, for who would rather read them or cannot see it. */
export function ChartTable({
  title,
  set: { times, series, isFirstCut, isLastCut },
  timezone,
}: {
  readonly title: string;
  readonly set: SeriesSet;
  readonly timezone: string;
}) {
  const step = Math.max(Math.floor(CELLS_MAX / series.length), 20);
  const [shown, setShown] = useState(step);
  const first = Math.max(times.length - shown, 0);
  const indexes = Array.from({ length: times.length - first }, (_, place) => times.length - 1 - place);
  const isCut = (index: number) => (index === 0 && isFirstCut) || (index === times.length - 1 && isLastCut);
  return (
    <section
      aria-label={`${title} as a table`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="mx-4 mb-4 h-72 overflow-auto rounded-md border border-line"
    >
      <table className="w-full text-xs">
        <thead className="sticky top-0 bg-sunken text-left normal-nums text-ink-soft">
          <tr>
            <th scope="col" className="px-3 py-1.5 font-medium">
              Time
            </th>
            {series.map(({ key, label, unit }) => (
              <th key={key} scope="col" className="px-3 py-1.5 text-right font-medium whitespace-nowrap">
                <bdi>{label}</bdi> {unit}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {indexes.map((index) => (
            <tr key={times[index]} className="border-t border-line">
              <th scope="row" className="px-3 py-1 text-left font-normal whitespace-nowrap text-ink-soft">
                {dateMinute(times[index] ?? 0, timezone)}
                {isCut(index) && <span className="text-ink-faint"> (in part)</span>}
              </th>
              {series.map(({ key, exact }) => (
                <td key={key} className="px-3 py-1 text-right" title={exact[index]}>
                  {decimal(exact[index] ?? '0')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <Totals series={series} />
      </table>
      {first > 0 && (
        <div className="p-2 text-center">
          <Button size="small" onClick={() => setShown(shown + step)}>
            Show earlier ones
          </Button>
        </div>
      )}
    </section>
  );
}

function Totals({ series }: Pick<SeriesSet, 'series'>) {
  return (
    <tfoot className="sticky bottom-0 bg-sunken font-medium">
      <tr>
        <th scope="row" className="px-3 py-1.5 text-left font-medium">
          Total
        </th>
        {series.map(({ key, total }) => (
          <td key={key} className="px-3 py-1.5 text-right" title={decimalExact(total)}>
            {decimal(total)}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}
