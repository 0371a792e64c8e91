import type { Measure, TotalsType } from '@tollgate/contract';
import { Link } from 'wouter';
import { decimalExact, decimalSignificant } from '../../format.js';
import { classes } from '../../ui/classes.js';
import { ShareBar } from '../../ui/share-bar.js';
import { ChangeNote } from './change-note.js';
import type { ChartData } from './chart-data.js';
import type { EventLinks } from './event-links.js';
import type { Series, SeriesSet } from './series.js';
import type { PreviousTotals } from './totals.js';
import { TotalsTable } from './totals-table.js';

export interface TotalsViewProps {
  readonly type: TotalsType;
  readonly title: string;
  readonly data: ChartData;
  readonly set: SeriesSet;
  readonly measure: Measure;
  /** Undefined without a comparison, and until it has arrived. */
  readonly previous: PreviousTotals | undefined;
  readonly links: EventLinks | undefined;
}

/** A chart of totals. */
export function TotalsView(props: TotalsViewProps) {
  const { type } = props;
  if (type === 'table') return <TotalsTable {...props} />;
  return type === 'big_number' ? <BigNumbers {...props} /> : <TopGroups {...props} />;
}

/** One number for each metric and unit: large while there are few. */
function BigNumbers({ set, previous, links }: TotalsViewProps) {
  const isAlone = set.series.length === 1;
  return (
    <dl
      className={classes(
        'tabular grid max-h-80 gap-x-6 gap-y-4 overflow-y-auto px-4 pb-5',
        isAlone ? 'pt-2' : 'grid-cols-[repeat(auto-fill,minmax(11rem,1fr))] pt-1',
      )}
    >
      {set.series.map((one) => (
        <div key={one.key} className="min-w-0">
          {!isAlone && (
            <dt className="truncate text-xs text-ink-soft" title={one.label}>
              {one.label}
            </dt>
          )}
          {isAlone && <dt className="sr-only">{one.label}</dt>}
          <dd>
            <ValueLink one={one} links={links}>
              <span className={classes('font-semibold', isAlone ? 'text-4xl' : 'text-xl')}>
                {decimalSignificant(one.exact[0] ?? '0')}
              </span>{' '}
              <span className="text-[13px] text-ink-soft">{one.unit}</span>
            </ValueLink>
          </dd>
          {previous !== undefined && (
            <dd className="mt-0.5">
              <ChangeNote now={one.exact[0]} before={valueBefore(previous, one)} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

/** The groups as bars, largest first; amounts of each unit have their own bars. */
function TopGroups({ set, previous, links }: TotalsViewProps) {
  const units = [...new Set(set.series.map(({ unit }) => unit))];
  return (
    <div className="tabular flex max-h-96 flex-col gap-4 overflow-y-auto px-4 pb-4 text-[13px]">
      {units.map((unit) => {
        const groups = ranked(set.series.filter((one) => one.unit === unit));
        // The sum of all others is no group, and would make the bars of groups short.
        const largest = Math.max(0, ...groups.filter(({ isOther }) => !isOther).map(sizeOf));
        return (
          <ol key={unit} aria-label={unit === '' ? 'Groups' : `Groups in ${unit}`} className="grid gap-2.5">
            {groups.map((one) => (
              <li key={one.key}>
                <div className="flex items-baseline gap-3">
                  <span className="min-w-0 grow truncate" title={one.label}>
                    {one.label}
                  </span>
                  {previous !== undefined && (
                    <ChangeNote now={one.exact[0]} before={valueBefore(previous, one)} />
                  )}
                  <ValueLink one={one} links={links}>
                    {decimalSignificant(one.exact[0] ?? '0')}{' '}
                    <span className="text-xs text-ink-soft">{unit}</span>
                  </ValueLink>
                </div>
                {!one.isOther && (
                  <ShareBar
                    className="mt-1"
                    share={largest === 0 ? 0 : sizeOf(one) / largest}
                    tone={drawnValue(one) < 0 ? 'bad' : 'accent'}
                  />
                )}
              </li>
            ))}
          </ol>
        );
      })}
    </div>
  );
}

function ValueLink({
  one,
  links,
  children,
}: {
  readonly one: Series;
  readonly links: EventLinks | undefined;
  readonly children: React.ReactNode;
}) {
  const title = decimalExact(one.exact[0] ?? '0');
  const href = links?.ofRange(one);
  if (href === undefined) return <span title={title}>{children}</span>;
  return (
    <Link href={href} title={`${title}: view events`} className="hover:underline">
      {children}
    </Link>
  );
}

/** For drawing and sorting only: the number that is shown is exact. */
function drawnValue({ values }: Series): number {
  return values[0] ?? 0;
}

function sizeOf(one: Series): number {
  return Math.abs(drawnValue(one));
}

/** Sums of others come last, whatever their size, and losses after all gains. */
function ranked(series: readonly Series[]): Series[] {
  return series.toSorted((a, b) => Number(a.isOther) - Number(b.isOther) || drawnValue(b) - drawnValue(a));
}

function valueBefore({ set }: PreviousTotals, { key }: Series): string | undefined {
  return set.series.find((one) => one.key === key)?.exact[0];
}
