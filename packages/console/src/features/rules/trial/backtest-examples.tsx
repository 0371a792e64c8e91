import type { BacktestExample } from '@tollgate/contract';
import { dateTime, decimalExact } from '../../../format.js';
import { ChargedSide } from '../../../ui/charged-side.js';
import { signed } from './comparison.js';

/** The events with the largest changes, each with the charged items and the new ones. */
export function BacktestExamples({ examples }: { readonly examples: readonly BacktestExample[] }) {
  return (
    <section aria-label="Examples">
      <h4 className="mb-2 text-[13px] font-semibold">Events with the largest changes</h4>
      <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-panel">
        {examples.map((example) => (
          <li key={`${example.raw_event_id} ${example.currency}`}>
            <Example example={example} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Example({ example }: { readonly example: BacktestExample }) {
  const { raw_event_id, occurred_at, currency, amount_difference, before, after } = example;
  return (
    <details className="px-3.5 py-2 text-[13px]">
      <summary className="cursor-pointer">
        <span className="inline-flex w-[calc(100%-1.5rem)] flex-wrap justify-between gap-x-4">
          <span>{dateTime(occurred_at, 'UTC')} UTC</span>
          <span className="tabular font-medium">
            {currency === null
              ? 'changed, same amount'
              : `${signed(decimalExact(amount_difference))} ${currency}`}
          </span>
        </span>
      </summary>
      <p className="mt-2 font-mono text-xs break-all text-ink-faint">{raw_event_id}</p>
      <div className="mt-2 grid gap-4 sm:grid-cols-2">
        <ChargedSide title="Charged" side={before} />
        <ChargedSide title="With these rules" side={after} />
      </div>
    </details>
  );
}
