import { Link } from 'wouter';
import { decimalSignificant } from '../../format.js';
import { classes } from '../../ui/classes.js';
import type { EventLinks } from './event-links.js';
import { type Hover, HoverItem, HoverText } from './hover.js';
import type { ColoredSeries } from './palette.js';

export interface LegendProps {
  readonly series: readonly ColoredSeries[];
  readonly hidden: ReadonlySet<string>;
  /** The total of the shown series; undefined if they cannot be summed. */
  readonly total: { readonly exact: string; readonly at: (index: number) => string } | undefined;
  readonly hover: Hover;
  readonly links: EventLinks | undefined;
  readonly onToggle: (key: string) => void;
  /** Shows this series alone or, when it is alone, all. */
  readonly onIsolate: (key: string) => void;
}

/** Rows that fit without scrolling. More rows with short names are shown in two columns. */
const ONE_COLUMN_MAX = 6;
const SHORT_CHARS_MAX = 18;

/** The name and total of each series, for the range or for the bucket at the pointer. */
export function Legend({ series, hidden, total, hover, links, onToggle, onIsolate }: LegendProps) {
  const [first] = series;
  return (
    <div className="tabular @container px-4 pb-3 text-xs">
      <ul
        aria-label="Legend"
        className={classes(
          '-mx-1.5 grid max-h-36 gap-x-8 overflow-y-auto @2xl:grid-cols-2 @5xl:grid-cols-3',
          series.length > ONE_COLUMN_MAX &&
            series.every(({ label }) => label.length <= SHORT_CHARS_MAX) &&
            '@lg:grid-cols-2',
        )}
      >
        {series.map((one) => (
          <Row key={one.key} {...{ one, hidden, hover, links, onToggle, onIsolate }} count={series.length} />
        ))}
      </ul>
      {total !== undefined && (
        <p className="mt-1 flex items-center border-t border-line pt-1 font-medium">
          <span>Total</span>
          <Value
            hover={hover}
            sum={total.exact}
            unit={first?.unit ?? ''}
            at={total.at}
            href={first === undefined || hidden.size > 0 ? undefined : links?.ofAll(first)}
          />
        </p>
      )}
    </div>
  );
}

interface RowProps extends Omit<LegendProps, 'series' | 'total'> {
  readonly one: ColoredSeries;
  /** How many series there are. */
  readonly count: number;
}

function Row({ one, count, hidden, hover, links, onToggle, onIsolate }: RowProps) {
  const { key, label, unit, color, total: sum, exact } = one;
  const isHidden = hidden.has(key);
  const isAlone = !isHidden && hidden.size === count - 1;
  return (
    <HoverItem
      hover={hover}
      series={key}
      className="group flex min-w-0 items-center gap-2 rounded-sm px-1.5 hover:bg-sunken data-pointed:bg-sunken"
    >
      <button
        type="button"
        aria-pressed={!isHidden}
        onClick={() => onToggle(key)}
        title={isHidden ? `Show ${label}` : `Hide ${label}`}
        className="flex min-w-0 items-center gap-2 py-0.5"
      >
        <span
          className="size-2.5 shrink-0 rounded-xs border"
          style={{ borderColor: color, background: isHidden ? 'transparent' : color }}
        />
        <span
          className={classes(
            'truncate normal-nums',
            isHidden ? 'text-ink-faint line-through' : 'text-ink-soft',
          )}
        >
          {label}
        </span>
      </button>
      {count > 1 && (
        <button
          type="button"
          onClick={() => onIsolate(key)}
          aria-label={isAlone ? 'Show all' : `Show only ${label}`}
          className="shrink-0 text-accent opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
        >
          {isAlone ? 'All' : 'Only'}
        </button>
      )}
      <Value {...{ hover, sum, unit }} href={links?.ofRange(one)} at={(index) => exact[index] ?? '0'} />
    </HoverItem>
  );
}

interface ValueProps {
  readonly hover: Hover;
  /** Undefined where the buckets do not add up. */
  readonly sum: string | undefined;
  readonly unit: string;
  readonly at: (index: number) => string;
  /** Link to its events. */
  readonly href: string | undefined;
}

function textAt(value: string | undefined): string {
  return value === undefined ? '' : decimalSignificant(value);
}

function Value({ hover, sum, unit, at, href }: ValueProps) {
  const className = 'ml-auto whitespace-nowrap';
  const exact = sum === undefined ? undefined : `${sum} ${unit}`.trim();
  const shown = (
    <>
      <HoverText hover={hover} textOf={(index) => textAt(index === undefined ? sum : at(index))} />
      {unit !== '' && <span className="text-ink-faint"> {unit}</span>}
    </>
  );
  return href === undefined ? (
    <span className={className} title={exact}>
      {shown}
    </span>
  ) : (
    <Link
      href={href}
      className={classes(className, 'hover:underline')}
      title={exact === undefined ? 'View events' : `${exact}. View events`}
    >
      {shown}
    </Link>
  );
}
