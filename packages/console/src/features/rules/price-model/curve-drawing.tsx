import { axisNumber } from '../../../format.js';
import { classes } from '../../../ui/classes.js';
import { type Curve, drawn, ticksUpTo } from './curve.js';

const X_TICKS = 5;
const Y_TICKS = 4;
const PERCENT = 100;
/** Room above the greatest amount. */
const HEADROOM = 1.08;

/** Positions in percent of the drawing. */
export interface CurveScale {
  readonly xMax: number;
  readonly yMax: number;
  readonly yTicks: readonly number[];
  readonly x: (quantity: bigint) => number;
  readonly y: (amount: bigint) => number;
}

export function scaleOf({ quantityMax, points }: Curve): CurveScale {
  const xMax = drawn(quantityMax);
  const top = Math.max(...points.map(({ amount }) => drawn(amount)));
  const yTicks = ticksUpTo(top, Y_TICKS);
  const yMax = Math.max(top * HEADROOM, yTicks.at(-1) ?? 0) || 1;
  return {
    ...{ xMax, yMax, yTicks },
    x: (quantity) => (drawn(quantity) / xMax) * PERCENT,
    y: (amount) => PERCENT - (drawn(amount) / yMax) * PERCENT,
  };
}

/** The grid and the numbers beside it. */
export function CurveAxes({ scale: { xMax, yMax, yTicks } }: { readonly scale: CurveScale }) {
  return (
    <>
      {yTicks.map((tick) => (
        <div
          key={tick}
          aria-hidden
          className="absolute inset-x-0 border-t border-line"
          style={{ top: `${PERCENT - (tick / yMax) * PERCENT}%` }}
        >
          <span className="tabular absolute right-full -translate-y-1/2 pr-2 text-[11px] text-ink-faint">
            {axisNumber(tick)}
          </span>
        </div>
      ))}
      {ticksUpTo(xMax, X_TICKS).map((tick) => (
        <span
          key={tick}
          aria-hidden
          className="tabular absolute top-full -translate-x-1/2 pt-1.5 text-[11px] text-ink-faint"
          style={{ left: `${(tick / xMax) * PERCENT}%` }}
        >
          {axisNumber(tick)}
        </span>
      ))}
    </>
  );
}

/** The curve, its falls, and the quantity that is pointed at. */
export function CurveLines({
  curve: { points, drops },
  scale: { x, y },
  pointed,
}: {
  readonly curve: Curve;
  readonly scale: CurveScale;
  readonly pointed: bigint;
}) {
  const line = points.map(({ quantity, amount }) => `${x(quantity)},${y(amount)}`).join(' ');
  return (
    <svg
      aria-hidden
      viewBox="0 0 100 100"
      preserveAspectRatio="none"
      className="absolute inset-0 size-full overflow-visible"
    >
      <polygon points={`0,100 ${line} 100,100`} className="fill-accent opacity-10" />
      <polyline points={line} className="fill-none stroke-accent" {...STROKE} />
      {drops.map(({ quantity, before, after }) => (
        <line
          key={String(quantity)}
          x1={x(quantity)}
          x2={x(quantity)}
          y1={y(before)}
          y2={y(after)}
          className="stroke-bad"
          {...STROKE}
          strokeWidth={3}
        />
      ))}
      <line
        x1={x(pointed)}
        x2={x(pointed)}
        y1={0}
        y2={PERCENT}
        className="stroke-line-strong"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

/** Where the customer is, with a label on the side that the curve leaves free. */
export function PointMark({
  left,
  top,
  label,
}: {
  readonly left: number;
  readonly top: number;
  readonly label: string;
}) {
  return (
    <>
      <span
        aria-hidden
        style={{ left: `${left}%` }}
        className="pointer-events-none absolute inset-y-0 border-l border-dashed border-warn"
      />
      <Dot left={left} top={top} className="size-3.5 border-panel bg-warn" />
      <span
        style={{ left: `${left}%` }}
        className={classes(
          'pointer-events-none absolute max-w-40 truncate rounded border border-line bg-panel px-1.5 py-0.5 text-[11px] font-medium text-warn',
          left > PERCENT / 2 ? '-translate-x-full -ml-1.5' : 'ml-1.5',
          top > PERCENT / 2 ? 'top-1' : 'bottom-1',
        )}
      >
        {label}
      </span>
    </>
  );
}

const STROKE = { strokeWidth: 2, vectorEffect: 'non-scaling-stroke', strokeLinejoin: 'round' } as const;

export function Dot({
  left,
  top,
  className,
}: {
  readonly left: number;
  readonly top: number;
  readonly className: string;
}) {
  return (
    <span
      aria-hidden
      style={{ left: `${left}%`, top: `${top}%` }}
      className={classes(
        'pointer-events-none absolute -translate-x-1/2 -translate-y-1/2 rounded-full border-2',
        className,
      )}
    />
  );
}
