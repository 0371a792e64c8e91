import { Field, TextInput } from '../../../ui/field.js';
import { isPrice, type PricedMetric } from './starting-prices.js';

/** Optional fields for a first price of each metric. */
export function PriceFields({
  metrics,
  prices,
  onPrices,
  currency,
  isCurrencyInvalid,
  onCurrency,
}: {
  readonly metrics: readonly PricedMetric[];
  readonly prices: ReadonlyMap<string, string>;
  readonly onPrices: (prices: ReadonlyMap<string, string>) => void;
  readonly currency: string;
  readonly isCurrencyInvalid: boolean;
  readonly onCurrency: (currency: string) => void;
}) {
  return (
    <details className="text-[13px]">
      <summary className="cursor-pointer font-medium">
        Prices{' '}
        <span className="font-normal text-ink-soft">(optional; you can set them later, also per model)</span>
      </summary>
      <div className="mt-3 grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
        <Field
          label="Currency"
          error={isCurrencyInvalid ? 'Enter an uppercase code such as USD.' : undefined}
          hint="ISO 4217 code, or a custom unit."
        >
          {(control) => (
            <TextInput
              {...control}
              value={currency}
              onChange={(event) => onCurrency(event.target.value.trim().toUpperCase())}
            />
          )}
        </Field>
        {metrics.map(({ metric, unit, name }) => {
          const price = prices.get(metric) ?? '';
          return (
            <Field
              key={metric}
              label={name}
              error={price === '' || isPrice(price) ? undefined : 'Enter a number such as 0.000003.'}
              hint={`Per ${unit}.`}
            >
              {(control) => (
                <TextInput
                  {...control}
                  inputMode="decimal"
                  placeholder="0.000003"
                  value={price}
                  onChange={(event) => onPrices(new Map(prices).set(metric, event.target.value.trim()))}
                />
              )}
            </Field>
          );
        })}
      </div>
    </details>
  );
}
