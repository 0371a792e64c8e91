import type { CorrectionExample } from '@tollgate/contract';
import { dateTime, decimalExact } from '../../format.js';
import { useProject } from '../../project.js';
import { ChargedSide } from '../../ui/charged-side.js';
import { InlineLink } from '../../ui/inline-link.js';
import { signed } from '../rules/trial/comparison.js';

/** The events that a correction changes most, each with its charge items before and after. */
export function CorrectionExamples({ examples }: { readonly examples: readonly CorrectionExample[] }) {
  return (
    <section aria-label="Examples" className="flex flex-col gap-2">
      <h2 className="text-[15px] font-semibold">Events with the largest changes</h2>
      <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-panel">
        {examples.map((example) => (
          <li key={example.raw_event_id}>
            <Example example={example} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Example({ example }: { readonly example: CorrectionExample }) {
  const { id } = useProject();
  const { raw_event_id: eventId, occurred_at, amount_deltas: deltas, before, after } = example;
  return (
    <details className="px-3.5 py-2 text-[13px]">
      <summary className="cursor-pointer">
        <span className="inline-flex w-[calc(100%-1.5rem)] flex-wrap justify-between gap-x-4">
          <span>{dateTime(occurred_at, 'UTC')} UTC</span>
          <span className="tabular font-medium">
            {deltas.length === 0
              ? 'changed, same amount'
              : deltas
                  .map(({ amount, currency }) => `${signed(decimalExact(amount))} ${currency}`)
                  .join(', ')}
          </span>
        </span>
      </summary>
      <p className="mt-2 font-mono text-xs break-all">
        <InlineLink href={`/p/${id}/usage?event=${eventId}`}>{eventId}</InlineLink>
      </p>
      <div className="mt-2 grid gap-4 sm:grid-cols-2">
        <ChargedSide title="Before" side={before} />
        <ChargedSide title="After" side={after} />
      </div>
    </details>
  );
}
