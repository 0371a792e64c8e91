import { useMemo } from 'react';
import { Checkbox } from '../../../ui/checkbox.js';
import { CodeEditor } from '../../../ui/code/code-editor.js';
import { Field, type Option, Select, TextInput } from '../../../ui/field.js';
import { withField } from '../body.js';
import { inExpression } from '../finding.js';
import { useFindingAt, useRulesForm } from './context.js';

/** A part of the body with its path. */
export interface FormPart<T extends object> {
  readonly value: T;
  readonly path: string;
  readonly onChange: (value: T) => void;
}

type TextKey<T> = { [K in keyof T]-?: NonNullable<T[K]> extends string ? K : never }[keyof T] & string;

interface PartFieldProps<T extends object> extends FormPart<T> {
  readonly name: TextKey<T>;
  readonly label: string;
  readonly hint?: string;
}

/** The path of a field of a part. */
export function pathOf(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function textOf<T extends object>(value: T, name: TextKey<T>): string {
  return String(value[name] ?? '');
}

/** Sets a text field. An empty text removes an optional field. */
function withText<T extends object>(value: T, name: TextKey<T>, text: string, isRequired: boolean): T {
  return withField(value, name, text === '' && !isRequired ? undefined : (text as T[typeof name]));
}

export function TextField<T extends object>({
  value,
  path,
  onChange,
  name,
  label,
  hint,
  isRequired = false,
  isCode = false,
  placeholder,
}: PartFieldProps<T> & {
  readonly isRequired?: boolean;
  /** Whether the text is a path or a name in code. */
  readonly isCode?: boolean;
  readonly placeholder?: string;
}) {
  const { isReadOnly } = useRulesForm();
  return (
    <Field label={label} hint={hint} error={useFindingAt(pathOf(path, name))}>
      {(control) => (
        <TextInput
          {...control}
          className={isCode ? 'w-full font-mono text-xs' : 'w-full'}
          spellCheck={!isCode}
          readOnly={isReadOnly}
          placeholder={placeholder}
          value={textOf(value, name)}
          onChange={(event) => onChange(withText(value, name, event.target.value, isRequired))}
        />
      )}
    </Field>
  );
}

/** The number of units that a price is for; a number in JSON is shown as text. */
export function PricingUnitField<T extends { readonly pricing_unit?: string | number }>({
  value,
  path,
  onChange,
}: FormPart<T>) {
  const { pricing_unit: unit, ...rest } = value;
  const part = { ...rest, ...(unit === undefined ? {} : { pricing_unit: String(unit) }) };
  return (
    <TextField<{ pricing_unit?: string }>
      value={part}
      path={path}
      onChange={(next) => onChange({ ...value, pricing_unit: next.pricing_unit })}
      name="pricing_unit"
      label="Pricing unit"
      hint="Number of units that the price is for, such as 1000000. Empty: 1."
      placeholder="1"
      isCode
    />
  );
}

/** Whether events without this value fail. */
export function RequiredField<T extends { required?: boolean }>({
  value,
  onChange,
  label,
}: FormPart<T> & { readonly label: string }) {
  const { isReadOnly } = useRulesForm();
  return (
    <Checkbox
      label={label}
      isDisabled={isReadOnly}
      isChecked={value.required === true}
      onChange={(isChecked) => onChange({ ...value, required: isChecked })}
    />
  );
}

export function ChoiceField<T extends object>({
  value,
  path,
  onChange,
  name,
  label,
  hint,
  options,
}: PartFieldProps<T> & { readonly options: readonly Option<string>[] }) {
  const { isReadOnly } = useRulesForm();
  const chosen = textOf(value, name);
  const isKnown = options.some((option) => option.value === chosen);
  return (
    <Field label={label} hint={hint} error={useFindingAt(pathOf(path, name))}>
      {(control) => (
        <Select
          {...control}
          className="w-full"
          disabled={isReadOnly}
          options={isKnown ? options : [{ value: chosen, label: chosen }, ...options]}
          value={chosen}
          onChange={(text) => onChange(withText(value, name, text, true))}
        />
      )}
    </Field>
  );
}

/** An expression field that marks errors at their position. */
export function ExpressionField<T extends object>({
  value,
  path,
  onChange,
  name,
  label,
  hint,
  placeholder,
}: PartFieldProps<T> & { readonly placeholder: string }) {
  const { isReadOnly, dimensionNames } = useRulesForm();
  const source = textOf(value, name);
  const message = useFindingAt(pathOf(path, name));
  // Only a new error sets the marks again. In between, the editor moves them with the text.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the message is about the source at that time
  const findings = useMemo(() => (message === undefined ? [] : [inExpression(source, message)]), [message]);
  return (
    <Field label={label} hint={hint} error={message}>
      {(control) => (
        <CodeEditor
          control={control}
          label={label}
          language="cel"
          isSingleLine
          isReadOnly={isReadOnly}
          placeholder={placeholder}
          dimensionNames={dimensionNames}
          findings={findings}
          value={source}
          onChange={(text) => onChange(withText(value, name, text, false))}
        />
      )}
    </Field>
  );
}
