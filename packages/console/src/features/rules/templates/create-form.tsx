import type { ExtractorRuleSet, ExtractorTemplate } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { useMay } from '../../../api/session.js';
import { Button } from '../../../ui/button.js';
import { Checkbox } from '../../../ui/checkbox.js';
import { NameField } from '../../../ui/name-field.js';
import { FailureNote } from '../../../ui/states.js';
import { useCreateFromTemplate } from './api.js';
import { PriceFields } from './price-fields.js';
import { isPrice, metricsOf } from './starting-prices.js';

const CURRENCY = /^[A-Z][A-Z0-9_]{1,11}$/;

/** Form to create a rule set from a template. Prices are optional; without them, usage is counted but unpriced. */
export function CreateForm({
  template,
  isAlwaysPublished,
  onCreated,
}: {
  readonly template: ExtractorTemplate;
  readonly isAlwaysPublished: boolean;
  readonly onCreated: (ruleSet: ExtractorRuleSet) => void;
}) {
  const mayWrite = useMay('rules:write');
  const create = useCreateFromTemplate();
  const [name, setName] = useState(template.title);
  const [prices, setPrices] = useState<ReadonlyMap<string, string>>(new Map());
  const [currency, setCurrency] = useState('USD');
  const [isPublished, setPublished] = useState(isAlwaysPublished);
  const hasInvalidPrice = [...prices.values()].some((price) => price !== '' && !isPrice(price));
  const isInvalid = hasInvalidPrice || !CURRENCY.test(currency);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isInvalid) return;
    create.mutate({ template, name: name.trim(), prices, currency, isPublished }, { onSuccess: onCreated });
  };
  if (!mayWrite) {
    return (
      <p className="border-t border-line pt-5 text-[13px] text-ink-soft">
        To create a rule set, sign in with a key that has the permission rules:write.
      </p>
    );
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4 border-t border-line pt-5">
      <NameField className="max-w-sm" value={name} onChange={setName} />
      <PriceFields
        metrics={metricsOf(template)}
        prices={prices}
        onPrices={setPrices}
        currency={currency}
        isCurrencyInvalid={!CURRENCY.test(currency)}
        onCurrency={setCurrency}
      />
      {!isAlwaysPublished && (
        <Checkbox
          label="Publish immediately"
          hint="Only published rule sets accept events."
          isChecked={isPublished}
          onChange={setPublished}
        />
      )}
      {create.isError && <FailureNote error={create.error} />}
      <div>
        <Button type="submit" look="primary" isBusy={create.isPending} disabled={isInvalid}>
          Create rule set
        </Button>
      </div>
    </form>
  );
}
