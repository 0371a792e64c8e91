import { FieldGrid } from '../form/section.js';
import type { PriceModel } from './model.js';
import { type ModelProblems, problemsOfModel } from './model-problems.js';
import { NumberField } from './number-input.js';
import { TierFields } from './tier-fields.js';

interface ModelPart<M extends PriceModel> {
  readonly model: M;
  readonly problems: ModelProblems;
  readonly onChange: (model: PriceModel) => void;
}

/** The fields of a price model: those of its kind, then fee, minimum and cap. */
export function ModelFields({
  model,
  isTotal,
  onChange,
}: {
  readonly model: PriceModel;
  readonly isTotal: boolean;
  readonly onChange: (model: PriceModel) => void;
}) {
  const problems = problemsOfModel(model);
  const once = isTotal ? 'once in each period' : 'to each charge item';
  const of = isTotal ? 'of a period' : 'of a charge item';
  const number = (name: 'fee' | 'minimum' | 'cap', label: string, hint: string) => (
    <NumberField
      label={label}
      hint={hint}
      error={problems[name]}
      value={model[name]}
      onChange={(text) => onChange({ ...model, [name]: text })}
    />
  );
  return (
    <>
      <CoreFields model={model} problems={problems} onChange={onChange} />
      <div className="grid gap-4 sm:grid-cols-3">
        {number('fee', 'Fixed fee', `Optional. Added ${once}.`)}
        {number('minimum', 'Minimum', `Optional. Least amount ${of}.`)}
        {number('cap', 'Cap', `Optional. Greatest amount ${of}.`)}
      </div>
    </>
  );
}

function CoreFields({ model, problems, onChange }: ModelPart<PriceModel>) {
  const field = <M extends PriceModel>(
    of: M,
    name: keyof M & string,
    [label, hint, placeholder]: readonly [label: string, hint: string, placeholder: string],
  ) => (
    <NumberField
      label={label}
      hint={hint}
      error={problems[name]}
      placeholder={placeholder}
      value={String(of[name])}
      onChange={(text) => onChange({ ...of, [name]: text })}
    />
  );
  switch (model.kind) {
    case 'per_unit':
      return (
        <FieldGrid>
          {field(model, 'price', ['Price', 'For the number of units on the right.', '0.25'])}
          {field(model, 'pricingUnit', [
            'Per units',
            'Such as 1000000 for a price per million. Empty: 1.',
            '1',
          ])}
        </FieldGrid>
      );
    case 'graduated':
    case 'volume':
      return (
        <TierFields
          tiers={model.tiers}
          problems={problems}
          onChange={(tiers) => onChange({ ...model, tiers })}
        />
      );
    case 'package':
      return (
        <FieldGrid>
          {field(model, 'size', ['Package size', 'Units in a package.', '1000'])}
          {field(model, 'price', ['Price per package', 'A started package is charged in full.', '5'])}
        </FieldGrid>
      );
    case 'allowance':
      return (
        <FieldGrid>
          {field(model, 'included', ['Included quantity', 'Costs nothing by itself.', '1000'])}
          {field(model, 'unitPrice', [
            'Overage price',
            'For each unit beyond the included quantity.',
            '0.01',
          ])}
        </FieldGrid>
      );
    case 'overage':
      return (
        <div className="grid gap-4 sm:grid-cols-3">
          {field(model, 'included', ['Allowance', 'Units at the base price.', '1000'])}
          {field(model, 'unitPrice', ['Base price', 'For each unit.', '0.02'])}
          {field(model, 'factor', ['Overage factor', 'Beyond it, times the base price.', '1.5'])}
        </div>
      );
    case 'percentage':
      return (
        <FieldGrid>
          {field(model, 'percent', ['Percent', 'Share of the quantity, which is an amount of money.', '2.9'])}
        </FieldGrid>
      );
  }
}
