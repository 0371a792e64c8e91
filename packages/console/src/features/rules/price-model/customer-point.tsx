import { useQuery } from '@tanstack/react-query';
import type { CounterListQuery, CounterView, Cumulative } from '@tollgate/contract';
import { useState } from 'react';
import { useMay } from '../../../api/session.js';
import { unscaled } from '../../../exact-sum.js';
import { dateMinute, decimal, money } from '../../../format.js';
import { useProjectClient } from '../../../project.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { ReadFailure } from '../../../ui/states.js';
import { useSettled } from '../../../ui/use-settled.js';
import { useRulesForm } from '../form/context.js';
import { FieldGrid } from '../form/section.js';
import { amountAt, scaledNumber } from './amount-at.js';
import type { PriceModel } from './model.js';
import { PriceCurve } from './price-curve.js';

/** Counters to choose from; others are found by the ID of their subject or account. */
const CHOICES_MAX = 20;
const NONE = '';

interface TotalPriceProps {
  readonly model: PriceModel;
  readonly cumulative: Cumulative;
  readonly currency: string;
}

/** The price curve of a total, with the current total of a customer on it. */
export function TotalPriceCurve({ model, cumulative, currency }: TotalPriceProps) {
  const [chosen, setChosen] = useState<CounterView>();
  const counter = chosen?.counter === cumulative.counter ? chosen : undefined;
  const quantity = counter === undefined ? undefined : scaledNumber(counter.quantity);
  const point =
    counter === undefined || quantity === undefined ? undefined : { label: ownerOf(counter), quantity };
  return (
    <>
      <PriceCurve model={model} isTotal currency={currency} point={point} />
      {useMay('usage:read') && (
        <CustomerTotal cumulative={cumulative} chosen={counter} onChoose={setChosen} />
      )}
      {counter !== undefined && <CurrentTotal counter={counter} model={model} currency={currency} />}
    </>
  );
}

/** Chooses a counter in its present period. */
function CustomerTotal({
  cumulative: { counter, per },
  chosen,
  onChoose,
}: {
  readonly cumulative: Cumulative;
  readonly chosen: CounterView | undefined;
  readonly onChoose: (counter: CounterView | undefined) => void;
}) {
  const { ruleSetId } = useRulesForm();
  const [id, setId] = useState('');
  const owner = useSettled(id.trim());
  const filter = owner === '' ? {} : per === 'account' ? { account_id: owner } : { subject_id: owner };
  const read = useCounters({ counter, rule_set_id: ruleSetId, limit: CHOICES_MAX, ...filter });
  const listed = read.data?.counters ?? [];
  const counters = chosen === undefined || listed.some(isSame(chosen)) ? listed : [chosen, ...listed];
  const isSearchable = per !== 'project' && (id !== '' || (read.data?.total_count ?? 0) > CHOICES_MAX);
  if (read.isError) return <ReadFailure of={read} />;
  if (read.data !== undefined && counters.length === 0 && id === '') {
    return (
      <p className="text-xs text-ink-faint">
        The counter {counter} has no usage in the present period. Once it has, you can see a customer on the
        curve.
      </p>
    );
  }
  return (
    <FieldGrid>
      <Field label="Show the current total of" hint={counters.length === 0 ? 'None found.' : undefined}>
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={[
              { value: NONE, label: 'Nobody' },
              ...counters.map((each) => ({
                value: keyOf(each),
                label: `${ownerOf(each)}: ${decimal(each.quantity)}`,
              })),
            ]}
            value={chosen === undefined ? NONE : keyOf(chosen)}
            onChange={(key) => onChoose(counters.find((each) => keyOf(each) === key))}
          />
        )}
      </Field>
      {isSearchable && (
        <Field label={per === 'account' ? 'Find an account by ID' : 'Find a subject by ID'}>
          {(control) => <TextInput {...control} value={id} onChange={(event) => setId(event.target.value)} />}
        </Field>
      )}
    </FieldGrid>
  );
}

function useCounters(query: CounterListQuery) {
  const { projectId, usage } = useProjectClient();
  return useQuery({
    queryKey: ['counters', projectId, query],
    queryFn: ({ signal }) => usage.counters(query, { signal }),
    enabled: query.counter !== '',
  });
}

/** The present total of a customer, its amount so far, and the price by the rule that is edited. */
function CurrentTotal({
  counter,
  model,
  currency,
}: {
  readonly counter: CounterView;
  readonly model: PriceModel;
  readonly currency: string;
}) {
  const { quantity, amount, period_end: end, next_step: step } = counter;
  const scaled = scaledNumber(quantity);
  const price = scaled === undefined ? undefined : amountAt(model, scaled, true);
  return (
    <p className="tabular text-xs text-ink-soft">
      {ownerOf(counter)} has {decimal(quantity)}{' '}
      {end !== null && `in the period until ${dateMinute(end, 'UTC')} UTC`}, charged{' '}
      <strong className="text-ink">{money(amount, counter.currency)}</strong> so far.
      {price !== undefined && unscaled(price) !== amount && (
        <> By this rule the price would be {money(unscaled(price), currency)}.</>
      )}
      {step !== null && (
        <>
          {' '}
          By the published rule, the next unit or package above {decimal(step.at_quantity)} costs{' '}
          {money(step.unit_price, counter.currency)}.
        </>
      )}
    </p>
  );
}

/** The owner of a counter, with the values of the dimensions that split it. */
function ownerOf({ subject_type, subject_id, account_id, by }: CounterView): string {
  const owner =
    subject_id === null ? (account_id ?? 'project') : [subject_type, subject_id].filter(Boolean).join(' ');
  return [owner, ...Object.values(by).map((value) => value ?? 'none')].join(' · ');
}

function keyOf({ subject_type, subject_id, account_id, by, period_start }: CounterView): string {
  return JSON.stringify([subject_type, subject_id, account_id, by, period_start]);
}

function isSame(counter: CounterView): (other: CounterView) => boolean {
  return (other) => keyOf(other) === keyOf(counter);
}
