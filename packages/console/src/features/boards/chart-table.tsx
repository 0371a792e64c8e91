import { useState } from 'react';
import { Link } from 'wouter';
import { dateMinute, decimal, decimalExact } from '../../format.js';
import { Button } from '../../ui/button.js';
import type { EventLinks } from './event-links.js';
import type { SeriesSet } from './series.js';

/** Cells to show at first and with each click on the button. A page with 50,000 cells would be too slow. */
const CELLS_MAX = 3_000;

/** The numbers of a chart as a table, latest first. */
export function ChartTable({
  title,
  set: { times, series, isFirstPartial, isLastPartial },
  timezone,
  links,
}: {
  readonly title: string;
  readonly set: SeriesSet;
  readonly timezone: string;
  readonly links: EventLinks | undefined;
}) {
  const step = Math.max(Math.floor(CELLS_MAX / series.length), 20);
  const [shown, setShown] = useState(step);
  const first = Math.max(times.length - shown, 0);
  const indexes = Array.from({ length: times.length - first }, (_, place) => times.length - 1 - place);
  const isPartial = (index: number) =>
    (index === 0 && isFirstPartial) || (index === times.length - 1 && isLastPartial);
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
                {isPartial(index) && <span className="text-ink-faint"> (partial)</span>}
              </th>
              {series.map((one) => (
                <td key={one.key} className="px-3 py-1 text-right" title={one.exact[index]}>
                  <EventsLink href={links?.ofBucket(one, index)}>
                    {decimal(one.exact[index] ?? '0')}
                  </EventsLink>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <Totals series={series} links={links} />
      </table>
      {first > 0 && (
        <div className="p-2 text-center">
          <Button size="small" onClick={() => setShown(shown + step)}>
            Show earlier
          </Button>
        </div>
      )}
    </section>
  );
}

/** A number with a link to the events that it sums, if a link exists. */
function EventsLink({ href, children }: { readonly href: string | undefined; readonly children: string }) {
  if (href === undefined) return children;
  return (
    <Link
      href={href}
      className="underline decoration-line-strong decoration-dotted underline-offset-2 hover:text-accent hover:decoration-solid"
    >
      {children}
    </Link>
  );
}

function Totals({ series, links }: Pick<SeriesSet, 'series'> & { readonly links: EventLinks | undefined }) {
  if (series.every(({ total }) => total === undefined)) return null;
  return (
    <tfoot className="sticky bottom-0 bg-sunken font-medium">
      <tr>
        <th scope="row" className="px-3 py-1.5 text-left font-medium">
          Total
        </th>
        {series.map((one) => (
          <td
            key={one.key}
            className="px-3 py-1.5 text-right"
            title={one.total === undefined ? undefined : decimalExact(one.total)}
          >
            {one.total !== undefined && (
              <EventsLink href={links?.ofRange(one)}>{decimal(one.total)}</EventsLink>
            )}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}
