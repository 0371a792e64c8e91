import type { RulesTestResult } from '@tollgate/contract';
import { totalsOf } from '../../../exact-sum.js';
import { classes } from '../../../ui/classes.js';
import { EventNotes } from '../../../ui/event-notes.js';
import { Fact, Facts } from '../../../ui/facts.js';
import { UnpricedNotes } from '../../../ui/unpriced-notes.js';
import { WarningList } from '../../../ui/warning-list.js';
import { ChargeItems } from './charge-items.js';
import type { UnusedRule } from './unused-rules.js';

/** The result of a test. Dimmed while a newer result is loading. */
export function TrialResult({
  result,
  unused,
  unusedTitle,
  isOld,
}: {
  readonly result: RulesTestResult;
  readonly unused: readonly UnusedRule[];
  readonly unusedTitle: string;
  readonly isOld: boolean;
}) {
  const { subject, dimensions, charge_items, errors, notes, warnings, explanation, unpriced } = result;
  return (
    <div
      className={classes('flex flex-col gap-5 transition-opacity duration-150', isOld && 'opacity-50')}
      aria-busy={isOld}
    >
      <p role="status" className="sr-only">
        {isOld ? '' : summaryOf(result)}
      </p>
      {errors.map(({ code, message, path }) => (
        <div key={`${code} ${path}`} className="rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad">
          <p>
            <strong className="font-semibold">The event fails:</strong> {message}
          </p>
          <p className="mt-1 font-mono text-xs break-all">
            {code}
            {path !== null && ` at ${path}`}
          </p>
        </div>
      ))}
      {warnings.length > 0 && (
        <section
          aria-label="Names to check"
          className="rounded-lg bg-warn-soft px-3.5 py-2.5 text-[13px] text-warn"
        >
          <p className="font-semibold">Check these names</p>
          <WarningList warnings={warnings} />
        </section>
      )}
      <EventNotes notes={notes} />
      <Facts>
        <Fact name="Subject">
          {subject === null ? <span className="text-ink-faint">None</span> : `${subject.type}/${subject.id}`}
        </Fact>
        {Object.entries(dimensions).map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </Facts>
      {charge_items.length > 0 && <ChargeItems items={charge_items} explanation={explanation} />}
      <UnpricedNotes items={unpriced} />
      {charge_items.length === 0 && errors.length === 0 && (
        <p className="rounded-lg bg-warn-soft px-3.5 py-2.5 text-[13px] text-warn">
          The event would be processed without charge items.
        </p>
      )}
      {unused.length > 0 && <UnusedRules title={unusedTitle} rules={unused} />}
    </div>
  );
}

/** Summary of the result for screen readers. */
function summaryOf({ charge_items, errors }: RulesTestResult): string {
  const [failure] = errors;
  if (failure !== undefined) return `The event fails: ${failure.message}`;
  const totals = totalsOf(charge_items).map(({ amount, currency }) => `${amount} ${currency}`);
  const items = `${charge_items.length} charge item${charge_items.length === 1 ? '' : 's'}`;
  return [items, ...totals].join(', ');
}

/** More unused rules than this are collapsed. */
const UNUSED_SHOWN = 6;

function UnusedRules({ title, rules }: { readonly title: string; readonly rules: readonly UnusedRule[] }) {
  return (
    <details open={rules.length <= UNUSED_SHOWN} className="text-[13px]">
      <summary className="cursor-pointer font-semibold">
        {title} <span className="tabular font-normal text-ink-soft">({rules.length})</span>
      </summary>
      <ul className="mt-1.5 flex flex-col gap-1">
        {rules.map(({ name, reason }) => (
          <li key={`${name} ${reason}`} className="break-words">
            <span className="font-medium">{name}</span> <span className="text-ink-soft">{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
