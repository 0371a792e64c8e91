import type { RulesTestResult } from '@tollgate/contract';
import { totalsOf } from '../../../exact-sum.js';
import { classes } from '../../../ui/classes.js';
import { EventNotes } from '../../../ui/event-notes.js';
import { Fact, Facts } from '../../../ui/facts.js';
import { UnpricedNotes } from '../../../ui/unpriced-notes.js';
import { ChargeItems } from './charge-items.js';
import type { SilentRule } from './silent-rules.js';

/** What rules made of an event. Dimmed while a newer answer is on its way. */
export function TrialResult({
  result,
  silent,
  silentTitle,
  isOld,
}: {
  readonly result: RulesTestResult;
  readonly silent: readonly SilentRule[];
  readonly silentTitle: string;
  readonly isOld: boolean;
}) {
  const { subject, dimensions, charge_items, errors, notes, explanation, unpriced } = result;
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
      <EventNotes notes={notes} />
      <Facts>
        <Fact name="Subject">
          {subject === null ? <span className="text-ink-faint">none</span> : `${subject.type}/${subject.id}`}
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
          The event would be processed, and charged for nothing.
        </p>
      )}
      {silent.length > 0 && <SilentRules title={silentTitle} rules={silent} />}
    </div>
  );
}

/** The answer in a sentence, for those who hear that it has come. */
function summaryOf({ charge_items, errors }: RulesTestResult): string {
  const [failure] = errors;
  if (failure !== undefined) return `The event fails: ${failure.message}`;
  const totals = totalsOf(charge_items).map(({ amount, currency }) => `${amount} ${currency}`);
  const items = `${charge_items.length} charge item${charge_items.length === 1 ? '' : 's'}`;
  return [items, ...totals].join(', ');
}

/** More than these are shown to who asks. */
const SILENT_SHOWN = 6;

function SilentRules({ title, rules }: { readonly title: string; readonly rules: readonly SilentRule[] }) {
  return (
    <details open={rules.length <= SILENT_SHOWN} className="text-[13px]">
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
