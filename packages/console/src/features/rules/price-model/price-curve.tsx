import { type KeyboardEvent, type PointerEvent, useId, useMemo, useState } from 'react';
import { unscaled } from '../../../exact-sum.js';
import { decimal, money } from '../../../format.js';
import { type Curve, curveOf, drawn, quantityAt } from './curve.js';
import { CurveAxes, CurveLines, Dot, PointMark, scaleOf } from './curve-drawing.js';
import type { PriceModel } from './model.js';
import { modelInWords } from './price-words.js';

/** Where a customer is on the curve. */
export interface CurrentPoint {
  readonly label: string;
  /** Integer × 10^18. */
  readonly quantity: bigint;
}

const ONE = 10n ** 18n;
const KEY_STEP = 0.01;
const KEY_LEAP = 0.1;

/** The amount over the quantity, with the exact amount at the quantity that is pointed at. */
export function PriceCurve({
  model,
  isTotal,
  currency,
  point,
}: {
  readonly model: PriceModel;
  readonly isTotal: boolean;
  readonly currency: string;
  readonly point?: CurrentPoint | undefined;
}) {
  const id = useId();
  const reached = point?.quantity ?? 0n;
  const curve = useMemo(() => curveOf(model, isTotal, reached), [model, isTotal, reached]);
  const [share, setShare] = useState<number>();
  if (curve === undefined) {
    return (
      <p className="rounded-md border border-dashed border-line-strong px-3 py-6 text-center text-xs text-ink-faint">
        The price curve appears once all numbers are filled in.
      </p>
    );
  }
  const quantity =
    share === undefined ? (point?.quantity ?? curve.quantityMax / 2n) : quantityAt(curve, share);
  return (
    <figure aria-labelledby={id} className="flex min-w-0 flex-col gap-2">
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <span id={id} className="text-[13px] font-medium">
          {isTotal ? 'Price of a total' : 'Price of a charge item'}, in {currency}
        </span>
        <Readout curve={curve} quantity={quantity} currency={currency} />
      </figcaption>
      <Plot
        curve={curve}
        quantity={quantity}
        currency={currency}
        point={point}
        label={`Quantity on the price curve: ${modelInWords(model)}`}
        onShare={setShare}
      />
      <Drops curve={curve} currency={currency} isTotal={isTotal} />
    </figure>
  );
}

/** Quantity and amount of the place that is pointed at, and the price of one more unit. */
function Readout({
  curve,
  quantity,
  currency,
}: {
  readonly curve: Curve;
  readonly quantity: bigint;
  readonly currency: string;
}) {
  const amount = curve.amountOf(quantity);
  const more = curve.amountOf(quantity + ONE) - amount;
  return (
    <span className="tabular text-xs text-ink-soft">
      {decimal(unscaled(quantity))} →{' '}
      <strong className="text-ink">{money(unscaled(amount), currency)}</strong>
      <span className="text-ink-faint"> · one more unit {signed(unscaled(more))}</span>
    </span>
  );
}

function signed(amount: string): string {
  return amount.startsWith('-') ? `−${decimal(amount.slice(1))}` : `+${decimal(amount)}`;
}

interface PlotProps {
  readonly curve: Curve;
  readonly quantity: bigint;
  readonly currency: string;
  readonly point: CurrentPoint | undefined;
  readonly label: string;
  readonly onShare: (share: number) => void;
}

/** The drawing, which is also a slider: pointing at it or pressing arrow keys chooses a quantity. */
function Plot({ curve, quantity, currency, point, label, onShare }: PlotProps) {
  const scale = scaleOf(curve);
  const amount = curve.amountOf(quantity);
  return (
    <div className="pt-2 pr-4 pb-6 pl-14">
      <div
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={scale.xMax}
        aria-valuenow={drawn(quantity)}
        aria-valuetext={`${decimal(unscaled(quantity))} costs ${money(unscaled(amount), currency)}`}
        onPointerMove={(event) => onShare(shareOf(event))}
        onPointerDown={(event) => onShare(shareOf(event))}
        onKeyDown={(event) => {
          const next = shareAfter(event, drawn(quantity) / scale.xMax);
          if (next === undefined) return;
          event.preventDefault();
          onShare(next);
        }}
        className="relative h-44 touch-pan-y rounded-sm select-none"
      >
        <CurveAxes scale={scale} />
        <CurveLines curve={curve} scale={scale} pointed={quantity} />
        <Dot left={scale.x(quantity)} top={scale.y(amount)} className="size-2.5 border-accent bg-panel" />
        {point !== undefined && (
          <PointMark
            left={scale.x(point.quantity)}
            top={scale.y(curve.amountOf(point.quantity))}
            label={point.label}
          />
        )}
      </div>
    </div>
  );
}

function shareOf({ currentTarget, clientX }: PointerEvent): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  return (clientX - left) / width;
}

function shareAfter({ key }: KeyboardEvent, share: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: share - KEY_STEP,
    ArrowDown: share - KEY_STEP,
    ArrowRight: share + KEY_STEP,
    ArrowUp: share + KEY_STEP,
    PageDown: share - KEY_LEAP,
    PageUp: share + KEY_LEAP,
    Home: 0,
    End: 1,
  };
  const next = steps[key];
  return next === undefined ? undefined : Math.min(Math.max(next, 0), 1);
}

const DROPS_SHOWN = 3;

/** Says where the amount falls, which surprises people more than a low price. */
function Drops({
  curve: { drops },
  currency,
  isTotal,
}: {
  readonly curve: Curve;
  readonly currency: string;
  readonly isTotal: boolean;
}) {
  if (drops.length === 0) return null;
  return (
    <ul className="flex flex-col gap-0.5 text-xs text-ink-soft">
      {drops.slice(0, DROPS_SHOWN).map(({ quantity, before, after }) => (
        <li key={String(quantity)}>
          Above {decimal(unscaled(quantity))} the amount falls from {decimal(unscaled(before))} to{' '}
          {money(unscaled(after), currency)}
          {isTotal && ': a small charge item that passes this total has a negative amount'}.
        </li>
      ))}
    </ul>
  );
}
