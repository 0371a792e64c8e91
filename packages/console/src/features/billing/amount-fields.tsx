import { plainNumber } from '../../plain-number.js';
import { Field, TextInput } from '../../ui/field.js';
import type { FieldErrors } from '../../ui/field-errors.js';

export interface Sum {
  readonly amount: string;
  readonly currency: string;
}

/** The amount and currency of a request. */
export function sumOf({ amount, currency }: Sum): Sum {
  return { amount: plainNumber(amount), currency: currency.trim().toUpperCase() };
}

/** Fields for an amount and its currency. */
export function AmountFields({
  sum,
  hint,
  errors,
  onEdit,
}: {
  readonly sum: Sum;
  readonly hint?: string;
  readonly errors: FieldErrors;
  readonly onEdit: (sum: Sum) => void;
}) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_7rem] items-start gap-3">
      <Field label="Amount" hint={hint} error={errors.at('amount')}>
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus
            inputMode="decimal"
            value={sum.amount}
            onChange={(event) => onEdit({ ...sum, amount: event.target.value })}
          />
        )}
      </Field>
      <Field label="Currency" error={errors.at('currency')}>
        {(control) => (
          <TextInput
            {...control}
            required
            value={sum.currency}
            onChange={(event) => onEdit({ ...sum, currency: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}
