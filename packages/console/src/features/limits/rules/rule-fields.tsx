import type { ReactNode } from 'react';
import { Field, Select, TextInput } from '../../../ui/field.js';
import { PeriodField } from './period-field.js';
import type { RuleDraft } from './rule-draft.js';
import { DIMENSIONS_LIST, METRICS_LIST, valuesList } from './suggestions.js';

export interface RuleFieldsProps {
  readonly rule: RuleDraft;
  /** What is wrong with a field. */
  readonly errorOf: (field: keyof RuleDraft) => string | undefined;
  readonly onEdit: (change: Partial<RuleDraft>) => void;
}

const MEASURES = [
  { value: 'amount', label: 'What usage costs' },
  { value: 'quantity', label: 'The quantity of usage' },
] as const;
const SELECTORS = [
  { value: 'all', label: 'All usage' },
  { value: 'metric', label: 'One metric' },
  { value: 'metric_prefix', label: 'Metrics that begin with' },
] as const;
const ACTIONS = [
  { value: 'block', label: 'Block' },
  { value: 'notify', label: 'Alert only' },
] as const;

/** Everything that a limit rule says. */
export function RuleFields(props: RuleFieldsProps) {
  return (
    <div className="flex flex-col gap-5">
      <Group>
        <Text
          {...props}
          field="limit_key"
          label="Name"
          hint="Under it the rule keeps what it has counted."
          wide
        />
        <PeriodField
          period={props.rule.period}
          error={props.errorOf('period')}
          onChange={(period) => props.onEdit({ period })}
        />
      </Group>
      <Counted {...props} />
      <Selected {...props} />
      <Reached {...props} />
    </div>
  );
}

function Group({ children }: { readonly children: ReactNode }) {
  return <div className="grid items-start gap-x-3 gap-y-4 sm:grid-cols-4">{children}</div>;
}

function Counted(props: RuleFieldsProps) {
  const { rule, errorOf, onEdit } = props;
  const isAmount = rule.measure === 'amount';
  return (
    <Group>
      <Field label="Counts" error={errorOf('measure')} className="sm:col-span-2">
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
      <Text
        {...props}
        field="limit_amount"
        label="Limit"
        hint="Exact to the last digit."
        inputMode="decimal"
      />
      <Text
        {...props}
        field="currency"
        label={isAmount ? 'Currency' : 'Unit'}
        hint={isAmount ? 'Only usage in it counts.' : 'Optional; a label alone.'}
      />
    </Group>
  );
}

function Selected(props: RuleFieldsProps) {
  const { rule, errorOf, onEdit } = props;
  return (
    <Group>
      <Field
        label="Of"
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
          label={rule.selector_type === 'metric' ? 'Metric' : 'Beginning'}
          hint={
            rule.selector_type === 'metric'
              ? 'For example llm.output_tokens.'
              : 'For example llm. with its point.'
          }
          list={METRICS_LIST}
        />
      )}
      <Text
        {...props}
        field="dimension_key"
        label="Only where"
        hint="Optional; a dimension."
        list={DIMENSIONS_LIST}
      />
      <Text
        {...props}
        field="dimension_value"
        label="Is"
        hint="Its value."
        list={valuesList(rule.dimension_key)}
        disabled={rule.dimension_key === '' && rule.dimension_value === ''}
      />
    </Group>
  );
}

function Reached(props: RuleFieldsProps) {
  const { rule, errorOf, onEdit } = props;
  return (
    <Group>
      <Field
        label="When reached"
        hint={rule.action === 'block' ? 'Checks and leases are refused.' : 'Nothing is refused.'}
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
        label="Alerts at, in percent"
        hint="For example 50, 80. An alert at 100 % is always sent."
      />
      <Text
        {...props}
        field="webhook_event"
        label="Webhook event"
        hint="Optional; a name of your own in place of usage_limit.exceeded."
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
