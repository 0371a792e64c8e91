import type { BacktestExample } from '@tollgate/contract';
import { decimalExact } from '../format.js';

type Side = BacktestExample['before'];

/** The charge items of one result of an event, or the reason of its failure. */
export function ChargedSide({ title, side }: { readonly title: string; readonly side: Side }) {
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
              {item.cost && (
                <span className="text-ink-faint">
                  {' '}
                  costs {decimalExact(item.cost.amount)} {item.cost.currency}
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
      {hidden > 0 && <p className="mt-1 text-xs text-ink-faint">and {hidden} more</p>}
    </div>
  );
}
