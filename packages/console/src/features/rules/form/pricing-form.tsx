import type { PricingAlias, PricingRule } from '@tollgate/contract';
import { Button } from '../../../ui/button.js';
import { Field, TextInput } from '../../../ui/field.js';
import { type PricingBody, withField } from '../body.js';
import { PriceEditor } from '../price-model/price-editor.js';
import { inOrder, isInOrder, moveRule } from '../rule-order.js';
import { useFindingAt, useRulesForm } from './context.js';
import { EntryList } from './entry-list.js';
import { ExpressionField, type FormPart, TextField } from './fields.js';
import { GeneralFields } from './general-fields.js';
import { summaryOfRule } from './rule-summary.js';
import { FieldGrid, FormSection } from './section.js';

const RULES_MAX = 500;
const ALIASES_MAX = 1_000;

/** All fields of a pricing rule set. */
export function PricingForm({ value, onChange }: Omit<FormPart<PricingBody>, 'path'>) {
  const { isReadOnly } = useRulesForm();
  const { purpose, rules = [], aliases = [] } = value;
  const isCost = purpose === 'cost';
  const setRules = (next: readonly PricingRule[]) => onChange({ ...value, rules: next });
  return (
    <>
      <FormSection title="General">
        <FieldGrid>
          <GeneralFields value={value} onChange={onChange} />
          <TextField
            value={value}
            path=""
            onChange={onChange}
            name="currency"
            label="Currency"
            hint={`Currency of all ${isCost ? 'costs' : 'prices'}: USD, EUR or a custom unit.`}
            isRequired
            isCode
          />
          <PurposeField isCost={isCost} />
        </FieldGrid>
      </FormSection>
      <FormSection
        title="Rules"
        hint={`Tried from top to bottom. The first rule of the metric whose condition is true sets the ${isCost ? 'cost' : 'price'}.`}
        actions={
          !isReadOnly &&
          !isInOrder(rules) && (
            <div className="flex flex-col items-start gap-1.5">
              <p className="text-xs text-warn">The rules will be saved in the order of their priorities.</p>
              <Button size="small" onClick={() => setRules(inOrder(rules))}>
                Sort by priority
              </Button>
            </div>
          )
        }
      >
        <EntryList<PricingRule>
          noun="rule"
          path="rules"
          entries={rules}
          max={RULES_MAX}
          titleOf={({ name, metric }) => name ?? metric}
          summaryOf={summaryOfRule}
          nothing={
            isCost
              ? 'No rules. Charge items get no cost from this rule set.'
              : 'No rules. Charge items without a price of their own stay unpriced.'
          }
          makeEntry={() => ({ metric: '' })}
          move={(entries, from, to) => moveRule(entries, from, to)}
          onChange={setRules}
        >
          {(part) => <RuleFields {...part} currency={value.currency} />}
        </EntryList>
      </FormSection>
      <Aliases aliases={aliases} onChange={(next) => onChange({ ...value, aliases: next })} />
    </>
  );
}

/** Shows the purpose, which is fixed. */
function PurposeField({ isCost }: { readonly isCost: boolean }) {
  return (
    <Field
      label="Purpose"
      hint={
        isCost
          ? 'Costs are recorded beside the price of each charge item, and posted nowhere. Cannot be changed.'
          : 'Prices are charged. Cannot be changed.'
      }
    >
      {(control) => <TextInput {...control} disabled value={isCost ? 'Costs' : 'Prices'} />}
    </Field>
  );
}

function RuleFields({ currency, ...part }: FormPart<PricingRule> & { readonly currency: string }) {
  return (
    <>
      <FieldGrid>
        <TextField {...part} name="metric" label="Metric" isRequired isCode placeholder="llm.input_tokens" />
        <TextField
          {...part}
          name="name"
          label="Name"
          hint="Shown with its charge items. Default: the metric."
        />
        <PriorityField {...part} />
      </FieldGrid>
      <ExpressionField
        {...part}
        name="match_expr"
        label="Condition"
        hint="True or false. Empty: matches all charge items of the metric."
        placeholder='dimensions.model == "gpt-5"'
      />
      <PriceEditor
        {...part}
        metric={part.value.metric}
        currency={currency}
        none={{ label: 'Choose a model', hint: 'A rule needs a price.' }}
      />
    </>
  );
}

function Aliases({
  aliases,
  onChange,
}: {
  readonly aliases: readonly PricingAlias[];
  readonly onChange: (aliases: readonly PricingAlias[]) => void;
}) {
  return (
    <FormSection
      title="Aliases"
      hint="Other names for dimension values, such as a model with a release date. * matches any text. A rule that matches the original value takes precedence."
    >
      <EntryList<PricingAlias>
        noun="alias"
        path="aliases"
        entries={aliases}
        max={ALIASES_MAX}
        titleOf={({ pattern }) => pattern}
        summaryOf={({ dimension, value: name }) => `→ ${name} · ${dimension}`}
        nothing="No aliases. Rules match the values of the event."
        makeEntry={() => ({ dimension: 'model', pattern: '', value: '' })}
        onChange={onChange}
      >
        {(part) => <AliasFields {...part} />}
      </EntryList>
    </FormSection>
  );
}

function AliasFields(part: FormPart<PricingAlias>) {
  return (
    <FieldGrid>
      <TextField {...part} name="pattern" label="Pattern" isRequired isCode placeholder="gpt-5-mini-202*" />
      <TextField {...part} name="value" label="Priced as" isRequired isCode placeholder="gpt-5-mini" />
      <TextField {...part} name="dimension" label="Dimension" isRequired isCode placeholder="model" />
    </FieldGrid>
  );
}

function PriorityField({ value, path, onChange }: FormPart<PricingRule>) {
  const { isReadOnly } = useRulesForm();
  const { priority } = value;
  const edit = (text: string) => {
    const number = Number(text);
    if (text === '') onChange(withField(value, 'priority', undefined));
    else if (Number.isSafeInteger(number)) onChange(withField(value, 'priority', number));
  };
  return (
    <Field
      label="Priority"
      hint="Lower values are tried first. Equal values keep their order."
      error={useFindingAt(`${path}.priority`)}
    >
      {(control) => (
        <TextInput
          {...control}
          type="number"
          step={1}
          readOnly={isReadOnly}
          placeholder="0"
          value={priority ?? ''}
          onChange={(event) => edit(event.target.value)}
        />
      )}
    </Field>
  );
}
