import { dateTime, decimal } from '../../format.js';
import type { SeriesSet } from './series.js';

/** The numbers of a chart, for who would rather read them or cannot see it. */
export function ChartTable({
  data: { times, series },
  timezone,
}: {
  readonly data: SeriesSet;
  readonly timezone: string;
}) {
  return (
    <div className="mx-4 mb-4 max-h-72 overflow-auto rounded-md border border-line">
      <table className="w-full text-xs">
        <thead className="sticky top-0 bg-sunken text-left text-ink-soft">
          <tr>
            <th scope="col" className="px-3 py-1.5 font-medium">
              Time
            </th>
            {series.map(({ label, unit }) => (
              <th
                key={`${label} ${unit}`}
                scope="col"
                className="px-3 py-1.5 text-right font-medium whitespace-nowrap"
              >
                {label} {unit}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, index) => (
            <tr key={time} className="border-t border-line">
              <th scope="row" className="px-3 py-1 text-left font-normal whitespace-nowrap text-ink-soft">
                {dateTime(time, timezone)}
              </th>
              {series.map(({ label, unit, exact }) => (
                <td key={`${label} ${unit}`} className="px-3 py-1 text-right">
                  {decimal(exact[index] ?? '0')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot className="sticky bottom-0 bg-sunken font-medium">
          <tr>
            <th scope="row" className="px-3 py-1.5 text-left font-medium">
              Total
            </th>
            {series.map(({ label, unit, total }) => (
              <td key={`${label} ${unit}`} className="px-3 py-1.5 text-right" title={total}>
                {decimal(total)}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
