import { useState } from 'react';
import { decimalExact } from '../../../format.js';
import { Button } from '../../../ui/button.js';
import { classes } from '../../../ui/classes.js';
import { FailureNote, Skeleton } from '../../../ui/states.js';
import { useSettled } from '../../../ui/use-settled.js';
import { useTrial } from './api.js';
import { type ComparedTotal, compareItems, isChanged, signed } from './comparison.js';
import type { EventDraft, TrialRules } from './trial-request.js';

interface ComparisonProps {
  readonly draft: TrialRules | undefined;
  /** Undefined if no version is published. */
  readonly published: TrialRules | undefined;
  readonly event: EventDraft;
}

/** On request, compares the result of the draft with that of the published version. */
export function PublishedComparison({ draft, published, event }: ComparisonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="border-t border-line pt-4">
      <Button
        aria-expanded={isOpen}
        disabled={published === undefined}
        title={published === undefined ? 'No version is published.' : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Hide comparison' : 'Compare with the published version'}
      </Button>
      {published === undefined && (
        <p className="mt-1.5 text-xs text-ink-faint">No version is published yet.</p>
      )}
      {isOpen && published !== undefined && <Comparison draft={draft} published={published} event={event} />}
    </div>
  );
}

function Comparison({ draft, published, event }: ComparisonProps) {
  const settledDraft = useSettled(draft);
  const settledEvent = useSettled(event);
  const after = useTrial(settledDraft, settledEvent);
  const before = useTrial(published, settledEvent);
  if (before.isError) return <FailureNote error={before.error} />;
  if (after.isError || after.data === undefined || before.data === undefined) {
    return <Skeleton className="mt-4 h-32" />;
  }
  const totals = compareItems(before.data.result.charge_items, after.data.result.charge_items);
  const failure = before.data.result.errors[0];
  const isSame =
    failure === undefined &&
    totals.every(({ quantity, amount }) => !isChanged(quantity) && !isChanged(amount));
  const isOld = after.isPlaceholderData || before.isPlaceholderData;
  return (
    <section
      aria-label="Comparison with the published version"
      className={classes('mt-4 transition-opacity', isOld && 'opacity-50')}
    >
      {failure !== undefined && (
        <p className="mb-3 text-[13px] text-bad">
          With the published version, the event fails: {failure.message}
        </p>
      )}
      {isSame && <p className="mb-3 text-[13px] text-ink-soft">The results are the same.</p>}
      {totals.length > 0 && <ComparisonTable totals={totals} />}
    </section>
  );
}

function ComparisonTable({ totals }: { readonly totals: readonly ComparedTotal[] }) {
  return (
    <div className="overflow-x-auto rounded-xl border border-line bg-panel">
      <table className="w-full text-[13px]">
        <thead className="text-left text-xs text-ink-faint">
          <tr>
            {['Metric', 'Published', 'These rules', 'Difference'].map((title, index) => (
              <th
                key={title}
                scope="col"
                className={classes('px-3.5 py-2 font-medium', index > 0 && 'text-right')}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {totals.map((total) => (
            <ComparisonRow key={`${total.metric} ${total.unit} ${total.currency}`} total={total} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Compares the amount of priced items and the quantity of others, and both if the quantity differs. */
function ComparisonRow({ total }: { readonly total: ComparedTotal }) {
  const { metric, unit, currency, quantity, amount } = total;
  const rows = [
    ...(currency === null || isChanged(quantity) ? [{ of: quantity, unit: unit ?? '' }] : []),
    ...(currency === null ? [] : [{ of: amount, unit: currency }]),
  ];
  return rows.map(({ of, unit: shownUnit }, index) => (
    <tr key={shownUnit} className="border-t border-line">
      <th scope="row" className="px-3.5 py-1.5 text-left font-normal">
        {index === 0 ? metric : <span className="sr-only">{metric}</span>}
      </th>
      <td className="px-3.5 py-1.5 text-right whitespace-nowrap text-ink-soft">
        {decimalExact(of.before)} {shownUnit}
      </td>
      <td className="px-3.5 py-1.5 text-right whitespace-nowrap">
        {decimalExact(of.after)} {shownUnit}
      </td>
      <td
        className={classes(
          'px-3.5 py-1.5 text-right whitespace-nowrap',
          isChanged(of) ? 'font-medium' : 'text-ink-faint',
        )}
      >
        {isChanged(of) ? signed(decimalExact(of.difference)) : '—'}
      </td>
    </tr>
  ));
}
