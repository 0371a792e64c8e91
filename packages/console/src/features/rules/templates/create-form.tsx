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

/** Makes a rule set of the template. Prices may wait: without them usage is counted, and costs nothing yet. */
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
  const hasWrongPrice = [...prices.values()].some((price) => price !== '' && !isPrice(price));
  const isWrong = hasWrongPrice || !CURRENCY.test(currency);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isWrong) return;
    create.mutate({ template, name: name.trim(), prices, currency, isPublished }, { onSuccess: onCreated });
  };
  if (!mayWrite) {
    return (
      <p className="border-t border-line pt-5 text-[13px] text-ink-soft">
        Making a rule set needs the permission rules:write, which this key does not have.
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
        isCurrencyWrong={!CURRENCY.test(currency)}
        onCurrency={setCurrency}
      />
      {!isAlwaysPublished && (
        <Checkbox
          label="Publish it at once"
          hint="Events can be sent to a published rule set."
          isChecked={isPublished}
          onChange={setPublished}
        />
      )}
      {create.isError && <FailureNote error={create.error} />}
      <div>
        <Button type="submit" look="primary" isBusy={create.isPending} disabled={isWrong}>
          Create rule set
        </Button>
      </div>
    </form>
  );
}
