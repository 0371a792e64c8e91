import { decimalExact, money } from '../format.js';

/** A decimal with its currency, if any. The title has all digits. */
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
