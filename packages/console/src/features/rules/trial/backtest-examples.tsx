import type { BacktestExample } from '@tollgate/contract';
import { dateTime, decimalExact } from '../../../format.js';
import { signed } from './comparison.js';

type Side = BacktestExample['before'];

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
        <SideItems title="Charged" side={before} />
        <SideItems title="With these rules" side={after} />
      </div>
    </details>
  );
}

function SideItems({ title, side }: { readonly title: string; readonly side: Side }) {
  const { charge_items, charge_item_count, failure } = side;
  const hidden = charge_item_count - charge_items.length;
  return (
    <div className="min-w-0">
      <h5 className="text-xs font-medium text-ink-faint">{title}</h5>
      {failure !== null && (
        <p className="mt-1 break-words text-bad">
          Fails: {failure.message}
          {failure.path !== null && <code className="ml-1 font-mono text-xs">{failure.path}</code>}
        </p>
      )}
      {failure === null && charge_items.length === 0 && (
        <p className="mt-1 text-ink-soft">No charge items.</p>
      )}
      <ul className="mt-1 flex flex-col gap-1">
        {charge_items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity of their own, and never move
          <li key={index} className="tabular flex flex-wrap justify-between gap-x-4">
            <span className="min-w-0 break-words">
              {item.metric} <span className="text-ink-faint">× {decimalExact(item.quantity)}</span>
            </span>
            <span>
              {item.currency === null ? 'no price' : `${decimalExact(item.amount)} ${item.currency}`}
            </span>
          </li>
        ))}
      </ul>
      {hidden > 0 && <p className="mt-1 text-xs text-ink-faint">and {hidden} more</p>}
    </div>
  );
}
