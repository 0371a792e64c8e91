import type { Cumulative } from '@tollgate/contract';
import { useId, useState } from 'react';
import { Field, Select } from '../../../ui/field.js';
import { useRulesForm } from '../form/context.js';
import type { FormPart } from '../form/fields.js';
import { FieldGrid } from '../form/section.js';
import { CounterFields, PeriodFields } from './counter-fields.js';
import { TotalPriceCurve } from './customer-point.js';
import { ExpressionFields } from './expression-fields.js';
import {
  asKind,
  hasPrice,
  PRICE_FIELD_NAMES,
  PRICE_MODEL_KINDS,
  type PriceModel,
  type PriceModelKind,
  type RulePrice,
  withPrice,
} from './model.js';
import { ModelFields } from './model-fields.js';
import { PriceCurve } from './price-curve.js';
import { readPrice } from './read-price.js';
import { ITEM_QUANTITY, TOTAL_QUANTITY, writePrice } from './write-price.js';

type Choice = PriceModelKind | 'none' | 'expression';

const KINDS: Readonly<Record<PriceModelKind, { readonly label: string; readonly hint: string }>> = {
  per_unit: { label: 'Per unit', hint: 'Quantity × price.' },
  graduated: { label: 'Graduated tiers', hint: 'Each part of the quantity has the price of its tier.' },
  volume: { label: 'Volume tiers', hint: 'The whole quantity has the price of the tier that it reaches.' },
  package: { label: 'Packages', hint: 'Units are sold in packages of one size.' },
  overage: {
    label: 'Overage factor',
    hint: 'Units beyond an allowance cost a multiple of the base price.',
  },
  allowance: { label: 'Allowance, then overage', hint: 'A quantity is included, and more has a price.' },
  percentage: { label: 'Percentage', hint: 'A share of an amount of money, such as a payment.' },
};

export interface PriceEditorProps<T extends RulePrice> extends FormPart<T> {
  readonly metric: string;
  readonly currency: string;
  /** The choice without a price, and the hint that says what happens then. */
  readonly none: { readonly label: string; readonly hint: string };
}

/**
 * The price of a rule or charge item: as a model if its expressions are those of one, otherwise as expressions. Both
 * edit the same fields.
 */
export function PriceEditor<T extends RulePrice>(props: PriceEditorProps<T>) {
  const { value, path, none } = props;
  const { model, reason, choice, choose, setModel, setTotal, setCounter } = usePrice(props);
  const isTotal = value.cumulative !== undefined || value.total_expr !== undefined;
  const { cumulative } = value;
  const counter = cumulative && { value: cumulative, path: `${path}.cumulative`, onChange: setCounter };
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-4 rounded-lg border border-line p-4">
      <h3 id={id} className="text-[13px] font-semibold">
        Price
      </h3>
      <FieldGrid>
        <ModelChoice choice={choice} none={none} onChoose={choose} />
        {choice !== 'none' && <ScopeChoice isTotal={isTotal} onChoose={setTotal} />}
      </FieldGrid>
      {counter !== undefined && <PeriodFields {...counter} />}
      {reason !== undefined && (
        <p className="text-xs text-ink-faint">
          Shown as an expression, because {reason}. Choosing a model replaces it.
        </p>
      )}
      {choice === 'expression' && <ExpressionFields {...props} />}
      {model !== undefined && (
        <>
          <ModelFields model={model} isTotal={isTotal} onChange={setModel} />
          {cumulative === undefined ? (
            <PriceCurve model={model} isTotal={false} currency={props.currency} />
          ) : (
            <TotalPriceCurve model={model} cumulative={cumulative} currency={props.currency} />
          )}
          <Written price={value} path={path} />
        </>
      )}
      {counter !== undefined && <CounterFields {...counter} />}
    </section>
  );
}

function ModelChoice({
  choice,
  none,
  onChoose,
}: {
  readonly choice: Choice;
  readonly none: { readonly label: string; readonly hint: string };
  readonly onChoose: (choice: Choice) => void;
}) {
  const { isReadOnly } = useRulesForm();
  const hint =
    choice === 'none' ? none.hint : choice === 'expression' ? 'A formula of your own.' : KINDS[choice].hint;
  return (
    <Field label="Price model" hint={hint}>
      {(control) => (
        <Select<Choice>
          {...control}
          className="w-full"
          disabled={isReadOnly}
          options={[
            { value: 'none', label: none.label },
            ...PRICE_MODEL_KINDS.map((kind) => ({ value: kind, label: KINDS[kind].label })),
            { value: 'expression', label: 'Expression' },
          ]}
          value={choice}
          onChange={onChoose}
        />
      )}
    </Field>
  );
}

/** Whether each charge item has the price by itself, or the total over a period. */
function ScopeChoice({
  isTotal,
  onChoose,
}: {
  readonly isTotal: boolean;
  readonly onChoose: (isTotal: boolean) => void;
}) {
  const { isReadOnly } = useRulesForm();
  return (
    <Field
      label="Price of"
      hint={
        isTotal
          ? 'A charge item costs what it adds to the price of the total.'
          : 'Tiers, fee, minimum and cap apply to one charge item.'
      }
    >
      {(control) => (
        <Select
          {...control}
          className="w-full"
          disabled={isReadOnly}
          options={[
            { value: 'item', label: 'Each charge item' },
            { value: 'total', label: 'Total over a period' },
          ]}
          value={isTotal ? 'total' : 'item'}
          onChange={(chosen) => onChoose(chosen === 'total')}
        />
      )}
    </Field>
  );
}

/** The state of the editor: the chosen model, as long as it means what the rule has. */
function usePrice<T extends RulePrice>({ value, metric, onChange }: PriceEditorProps<T>) {
  const read = readPrice(value);
  const isPriced = hasPrice(value);
  const [isExpression, setIsExpression] = useState(isPriced && 'reason' in read);
  const [held, setHeld] = useState<PriceModel>();
  const { cumulative } = value;
  const isHeld = held !== undefined && isSame(writePrice(held, cumulative), value);
  const found = isHeld ? held : 'model' in read ? read.model : undefined;
  const isForm = isPriced && !isExpression && found !== undefined;
  const model = isForm ? found : undefined;
  const choice: Choice = model?.kind ?? (isPriced || isExpression ? 'expression' : 'none');
  const set = (price: RulePrice) => onChange(withPrice(value, price));
  const setModel = (next: PriceModel, counter: Cumulative | undefined) => {
    setIsExpression(false);
    setHeld(next);
    set(writePrice(next, counter));
  };
  return {
    model,
    reason: hasFormula(value) && choice === 'expression' && 'reason' in read ? read.reason : undefined,
    choice,
    choose: (next: Choice) => {
      if (next !== 'none' && next !== 'expression') return setModel(asKind(found, next), cumulative);
      setIsExpression(next === 'expression');
      if (next === 'none') set({});
    },
    setModel: (next: PriceModel) => setModel(next, cumulative),
    setTotal: (isTotal: boolean) => {
      const counter = isTotal ? (cumulative ?? counterFor(metric)) : undefined;
      if (model !== undefined) return setModel(model, counter);
      setIsExpression(true);
      set(movedExpression(value, counter));
    },
    setCounter: (counter: Cumulative) => set({ ...priceOf(value), cumulative: counter }),
  };
}

/** The counter that the form offers first. */
function counterFor(metric: string): Cumulative {
  return { counter: metric.replace(/[^\w.:-]/g, '_') || 'usage', period: 'month', per: 'subject' };
}

/** An expression of one charge item for the total of a period, or the other way round. */
function movedExpression(
  { unit_price_expr, amount_expr, total_expr }: RulePrice,
  counter: Cumulative | undefined,
): RulePrice {
  if (counter === undefined) {
    return total_expr === undefined
      ? {}
      : { amount_expr: total_expr.replaceAll(TOTAL_QUANTITY, ITEM_QUANTITY) };
  }
  const source = amount_expr ?? (unit_price_expr && `${ITEM_QUANTITY} * ${unit_price_expr}`);
  return source === undefined
    ? { cumulative: counter }
    : { cumulative: counter, total_expr: source.replaceAll(ITEM_QUANTITY, TOTAL_QUANTITY) };
}

function hasFormula({ unit_price_expr, amount_expr, total_expr }: RulePrice): boolean {
  return [unit_price_expr, amount_expr, total_expr].some((source) => source !== undefined);
}

function priceOf(value: RulePrice): RulePrice {
  return Object.fromEntries(
    PRICE_FIELD_NAMES.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])),
  );
}

function isSame(a: RulePrice, b: RulePrice): boolean {
  return PRICE_FIELD_NAMES.every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]));
}

/** The expressions that the form writes, with the errors that the service finds in them. */
function Written({ price, path }: { readonly price: RulePrice; readonly path: string }) {
  const { findings } = useRulesForm();
  const lines = (['unit_price_expr', 'pricing_unit', 'amount_expr', 'total_expr'] as const).flatMap((name) =>
    price[name] === undefined ? [] : [{ name, text: String(price[name]) }],
  );
  return (
    <dl
      aria-label="Expressions"
      className="flex flex-col gap-1 rounded-md bg-sunken px-3 py-2 font-mono text-xs"
    >
      {lines.map(({ name, text }) => (
        <div key={name} className="flex flex-wrap gap-x-3">
          <dt className="text-ink-faint">{name}</dt>
          <dd className="min-w-0 wrap-anywhere text-ink-soft">{text}</dd>
          {findings
            .filter(({ path: at }) => at === `${path}.${name}`)
            .map(({ message }) => (
              <dd key={message} className="w-full font-sans text-bad">
                {message}
              </dd>
            ))}
        </div>
      ))}
    </dl>
  );
}
