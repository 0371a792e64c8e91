import type { ReactNode } from 'react';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { PeriodField } from './period-field.js';
import type { RuleDraft } from './rule-draft.js';
import { DIMENSIONS_LIST, METRICS_LIST, valuesList } from './suggestions.js';

export interface RuleFieldsProps {
  readonly rule: RuleDraft;
  /** The validation error of a field. */
  readonly errorOf: (field: keyof RuleDraft) => string | undefined;
  readonly onEdit: (change: Partial<RuleDraft>) => void;
}

const MEASURES = [
  { value: 'amount', label: 'Cost of usage' },
  { value: 'quantity', label: 'Quantity of usage' },
  { value: 'count', label: 'Number of charge items' },
  { value: 'unique', label: 'Number of different values' },
  { value: 'max', label: 'Greatest quantity' },
] as const;
const SELECTORS = [
  { value: 'all', label: 'All usage' },
  { value: 'metric', label: 'One metric' },
  { value: 'metric_prefix', label: 'Metrics with a prefix' },
] as const;
const ACTIONS = [
  { value: 'block', label: 'Block' },
  { value: 'notify', label: 'Alert only' },
] as const;

/** All fields of a limit rule. */
export function RuleFields(props: RuleFieldsProps) {
  return (
    <div className="flex flex-col gap-5">
      <Group>
        <Text {...props} field="limit_key" label="Name" hint="Keep this name to keep the counter." wide />
        <PeriodField
          period={props.rule.period}
          error={props.errorOf('period')}
          onChange={(period) => props.onEdit({ period })}
        />
      </Group>
      <MeasureFields {...props} />
      <SelectorFields {...props} />
      <ActionFields {...props} />
    </div>
  );
}

function Group({ children }: { readonly children: ReactNode }) {
  return <div className="grid items-start gap-x-3 gap-y-4 sm:grid-cols-4">{children}</div>;
}

function MeasureFields(props: RuleFieldsProps) {
  const { rule, errorOf, onEdit } = props;
  const isAmount = rule.measure === 'amount';
  return (
    <Group>
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
      <Text {...props} field="limit_amount" label="Limit" hint="An exact decimal." inputMode="decimal" />
      {rule.measure === 'unique' ? (
        <Text
          {...props}
          field="of"
          label="Values of"
          hint="A dimension, for example user."
          list={DIMENSIONS_LIST}
        />
      ) : (
        <Text
          {...props}
          field="currency"
          label={isAmount ? 'Currency' : 'Unit'}
          hint={isAmount ? 'Counts only usage in this currency.' : 'Optional. Display only.'}
        />
      )}
    </Group>
  );
}

function SelectorFields(props: RuleFieldsProps) {
  const { rule, errorOf, onEdit } = props;
  return (
    <Group>
      <Field
        label="Applies to"
        error={errorOf('selector_type')}
        className={rule.selector_type === 'all' ? 'sm:col-span-2' : ''}
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={SELECTORS}
            value={rule.selector_type}
            onChange={(selector_type) => onEdit({ selector_type })}
          />
        )}
      </Field>
      {rule.selector_type !== 'all' && (
        <Text
          {...props}
          field="selector_value"
          label={rule.selector_type === 'metric' ? 'Metric' : 'Metric prefix'}
          hint={
            rule.selector_type === 'metric'
              ? 'For example llm.output_tokens.'
              : 'For example llm. (with the dot).'
          }
          list={METRICS_LIST}
        />
      )}
      <Text
        {...props}
        field="dimension_key"
        label="Dimension"
        hint="Optional filter."
        list={DIMENSIONS_LIST}
      />
      <Text
        {...props}
        field="dimension_value"
        label="Dimension value"
        hint="Exact match."
        list={valuesList(rule.dimension_key)}
        disabled={rule.dimension_key === '' && rule.dimension_value === ''}
      />
    </Group>
  );
}

function ActionFields(props: RuleFieldsProps) {
  const { rule, errorOf, onEdit } = props;
  return (
    <Group>
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
      <Text
        {...props}
        field="notify_at"
        label="Alert thresholds (%)"
        hint="For example 50, 80. 100 % always sends an alert."
      />
      <Text
        {...props}
        field="webhook_event"
        label="Webhook event"
        hint="Optional. Replaces usage_limit.exceeded."
        wide
      />
    </Group>
  );
}

function Text({
  rule,
  errorOf,
  onEdit,
  field,
  label,
  hint,
  wide = false,
  ...input
}: RuleFieldsProps & {
  readonly field: Exclude<keyof RuleDraft, 'measure' | 'selector_type' | 'action'>;
  readonly label: string;
  readonly hint: string;
  readonly wide?: boolean;
  readonly list?: string;
  readonly inputMode?: 'decimal';
  readonly disabled?: boolean;
}) {
  return (
    <Field label={label} hint={hint} error={errorOf(field)} className={wide ? 'sm:col-span-2' : ''}>
      {(control) => (
        <TextInput
          {...control}
          {...input}
          value={rule[field]}
          onChange={(event) => onEdit({ [field]: event.target.value })}
        />
      )}
    </Field>
  );
}
