import { useState } from 'react';
import { Field, Select, TextArea } from '../../../ui/field.js';
import { RuleFieldGroup, type RuleFieldsProps, RuleText } from './rule-inputs.js';
import { DIMENSIONS_LIST, METRICS_LIST, valuesList } from './suggestions.js';

const SELECTORS = [
  { value: 'all', label: 'All usage' },
  { value: 'metric', label: 'One metric' },
  { value: 'metrics', label: 'Several metrics' },
  { value: 'metric_prefix', label: 'Metrics with a prefix' },
] as const;
const MATCHES = [
  { value: 'one', label: 'One exact value' },
  { value: 'list', label: 'Values and prefixes' },
] as const;

/** The fields that say which usage a rule counts. */
export function SelectorFields(props: RuleFieldsProps) {
  const { rule, errorOf, onEdit } = props;
  return (
    <>
      <RuleFieldGroup>
        <Field
          label="Applies to"
          error={errorOf('selector_type')}
          className={rule.selector_type === 'all' ? 'sm:col-span-4' : 'sm:col-span-2'}
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
        <MetricField {...props} />
      </RuleFieldGroup>
      <DimensionFields {...props} />
    </>
  );
}

function MetricField(props: RuleFieldsProps) {
  switch (props.rule.selector_type) {
    case 'all':
      return null;
    case 'metric':
      return (
        <RuleText
          {...props}
          field="selector_value"
          label="Metric"
          hint="For example llm.output_tokens."
          list={METRICS_LIST}
          wide
        />
      );
    case 'metrics':
      return (
        <RuleText
          {...props}
          field="selector_values"
          label="Metrics"
          hint="Separated by commas. They share one limit."
          wide
        />
      );
    case 'metric_prefix':
      return (
        <RuleText
          {...props}
          field="selector_value"
          label="Metric prefix"
          hint="For example llm. (with the dot)."
          list={METRICS_LIST}
          wide
        />
      );
  }
}

function DimensionFields(props: RuleFieldsProps) {
  const { rule, onEdit } = props;
  const [match, setMatch] = useState(rule.dimension_values === '' ? 'one' : 'list');
  const isUnused = [rule.dimension_key, rule.dimension_value, rule.dimension_values].every(
    (text) => text === '',
  );
  return (
    <RuleFieldGroup>
      <RuleText
        {...props}
        field="dimension_key"
        label="Dimension"
        hint="Optional filter."
        list={DIMENSIONS_LIST}
      />
      <Field label="Dimension match">
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={MATCHES}
            value={match}
            disabled={isUnused}
            onChange={(next) => {
              setMatch(next);
              onEdit({ dimension_value: '', dimension_values: '' });
            }}
          />
        )}
      </Field>
      {match === 'one' ? (
        <RuleText
          {...props}
          field="dimension_value"
          label="Dimension value"
          hint="Exact match."
          list={valuesList(rule.dimension_key)}
          disabled={isUnused}
          wide
        />
      ) : (
        <ValuesField {...props} />
      )}
    </RuleFieldGroup>
  );
}

function ValuesField({ rule, errorOf, onEdit }: RuleFieldsProps) {
  return (
    <Field
      label="Dimension values"
      hint="One on each line. gpt-5* matches all values that begin with gpt-5."
      error={errorOf('dimension_values')}
      className="sm:col-span-2"
    >
      {(control) => (
        <TextArea
          {...control}
          rows={3}
          value={rule.dimension_values}
          onChange={(event) => onEdit({ dimension_values: event.target.value })}
        />
      )}
    </Field>
  );
}
