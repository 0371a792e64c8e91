import { Field, Select } from '../../../ui/field.js';
import { PeriodField } from './period-field.js';
import { RuleFieldGroup, type RuleFieldsProps, RuleText } from './rule-inputs.js';
import { SelectorFields } from './selector-fields.js';
import { DIMENSIONS_LIST } from './suggestions.js';

const MEASURES = [
  { value: 'amount', label: 'Amount charged' },
  { value: 'quantity', label: 'Quantity of usage' },
  { value: 'count', label: 'Number of charge items' },
  { value: 'unique', label: 'Number of different values' },
  { value: 'max', label: 'Greatest quantity' },
  { value: 'concurrency', label: 'Active leases' },
] as const;
const ACTIONS = [
  { value: 'block', label: 'Block' },
  { value: 'notify', label: 'Alert only' },
] as const;

/** All fields of a limit rule. */
export function RuleFields(props: RuleFieldsProps) {
  const isOfLeases = props.rule.measure === 'concurrency';
  return (
    <div className="flex flex-col gap-5">
      <RuleFieldGroup>
        <RuleText {...props} field="limit_key" label="Name" hint="Keep this name to keep the counter." wide />
        {!isOfLeases && (
          <PeriodField
            period={props.rule.period}
            error={props.errorOf('period')}
            onChange={(period) => props.onEdit({ period })}
          />
        )}
      </RuleFieldGroup>
      <MeasureFields {...props} />
      {!isOfLeases && <SelectorFields {...props} />}
      {!isOfLeases && <ActionFields {...props} />}
    </div>
  );
}

function MeasureFields(props: RuleFieldsProps) {
  const { rule, errorOf, onEdit } = props;
  const isAmount = rule.measure === 'amount';
  return (
    <RuleFieldGroup>
      <Field label="Measure" error={errorOf('measure')} className="sm:col-span-2">
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={MEASURES}
            value={rule.measure}
            onChange={(measure) => onEdit({ measure, currency: measure === 'amount' ? 'USD' : '' })}
          />
        )}
      </Field>
      <RuleText {...props} field="limit_amount" label="Limit" hint="An exact decimal." inputMode="decimal" />
      {rule.measure === 'unique' ? (
        <RuleText
          {...props}
          field="of"
          label="Values of"
          hint="A dimension, for example user."
          list={DIMENSIONS_LIST}
        />
      ) : (
        <RuleText
          {...props}
          field="currency"
          label={isAmount ? 'Currency' : 'Unit'}
          hint={isAmount ? 'Counts only usage in this currency.' : 'Optional. Display only.'}
        />
      )}
    </RuleFieldGroup>
  );
}

function ActionFields(props: RuleFieldsProps) {
  const { rule, errorOf, onEdit } = props;
  return (
    <RuleFieldGroup>
      <Field
        label="When reached"
        hint={rule.action === 'block' ? 'Refuses checks and leases.' : 'Refuses nothing.'}
        error={errorOf('action')}
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={ACTIONS}
            value={rule.action}
            onChange={(action) => onEdit({ action })}
          />
        )}
      </Field>
      <RuleText
        {...props}
        field="notify_at"
        label="Alert thresholds (%)"
        hint="For example 50, 80. 100 % always sends an alert."
      />
      <RuleText
        {...props}
        field="webhook_event"
        label="Webhook event"
        hint="Optional. Replaces usage_limit.exceeded."
        wide
      />
    </RuleFieldGroup>
  );
}
