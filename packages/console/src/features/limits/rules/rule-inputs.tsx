import type { ReactNode } from 'react';
import { Field, TextInput } from '../../../ui/field.js';
import type { RuleDraft } from './rule-draft.js';

export interface RuleFieldsProps {
  readonly rule: RuleDraft;
  /** The validation error of a field. */
  readonly errorOf: (field: keyof RuleDraft) => string | undefined;
  readonly onEdit: (change: Partial<RuleDraft>) => void;
}

/** Fields side by side. */
export function RuleFieldGroup({ children }: { readonly children: ReactNode }) {
  return <div className="grid items-start gap-x-3 gap-y-4 sm:grid-cols-4">{children}</div>;
}

/** A field of a rule that is one line of text. */
export function RuleText({
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
