import { plainNumber } from '../../../plain-number.js';
import { Field, TextInput } from '../../../ui/field.js';
import { type GivenTotals, isTotal } from './trial-request.js';

/** The totals of counters before the event, for prices that depend on them. */
export function TotalsFields({
  counters,
  totals,
  onChange,
}: {
  readonly counters: readonly string[];
  readonly totals: GivenTotals;
  readonly onChange: (totals: GivenTotals) => void;
}) {
  if (counters.length === 0) return null;
  return (
    <section aria-label="Totals before the event" className="flex flex-col gap-3">
      <h3 className="text-[13px] font-semibold">Totals before the event</h3>
      <div className="grid gap-4 sm:grid-cols-2">
        {counters.map((counter) => {
          const text = totals[counter] ?? '';
          return (
            <Field
              key={counter}
              label={counter}
              hint="Empty: the event is the first of its period."
              error={text === '' || isTotal(text) ? undefined : 'Enter a number such as 1200.5.'}
            >
              {(control) => (
                <TextInput
                  {...control}
                  className="tabular w-full"
                  inputMode="decimal"
                  value={text}
                  onChange={({ target }) => onChange({ ...totals, [counter]: plainNumber(target.value) })}
                />
              )}
            </Field>
          );
        })}
      </div>
    </section>
  );
}
