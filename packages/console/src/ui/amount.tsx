import { decimalExact, money } from '../format.js';

/** An exact decimal, with its currency where it has one. What is cut for a glance is whole in its title. */
export function Amount({
  value,
  currency = null,
}: {
  readonly value: string;
  readonly currency?: string | null;
}) {
  return (
    <span title={decimalExact(value)} className="tabular">
      {money(value, currency === '' ? null : currency)}
    </span>
  );
}
