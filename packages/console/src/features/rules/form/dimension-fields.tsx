import type { DimensionConfig } from '@tollgate/contract';
import { useState } from 'react';
import { Field, TextInput } from '../../../ui/field.js';
import { withField, withPaths } from '../body.js';
import { useRulesForm } from './context.js';
import { ChoiceField, type FormPart, RequiredField, TextField } from './fields.js';
import { PathList, summaryOfPaths } from './path-list.js';
import { FieldGrid } from './section.js';

const TYPES = [
  { value: 'string', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'Boolean' },
];

type Bands = NonNullable<DimensionConfig['bands']>;

/** One-line summary of a dimension. */
export function summaryOfDimension(dimension: DimensionConfig): string {
  const { type, bands, required } = dimension;
  const kind = [type, bands !== undefined && 'in bands', required === true && 'required'].filter(Boolean);
  return `${summaryOfPaths(dimension)}  ${kind.join(', ')}`;
}

/** The fields of a dimension. Numbers also have paths to sum and bands. */
export function DimensionFields(part: FormPart<DimensionConfig>) {
  const { value, path, onChange } = part;
  const { sum_paths: sumPaths = [] } = value;
  const isNumber = value.type === 'number';
  return (
    <>
      <FieldGrid>
        <TextField {...part} name="name" label="Name" isRequired isCode placeholder="model" />
        <TextField
          {...part}
          name="path"
          label="Path"
          {...(sumPaths.length > 0 && { hint: 'Optional if there are paths below.' })}
          isRequired={sumPaths.length === 0}
          isCode
          placeholder="request.model"
        />
        <ChoiceField {...part} name="type" label="Type" options={TYPES} />
        {(isNumber || value.bands !== undefined) && <BandsField {...part} />}
      </FieldGrid>
      {(isNumber || sumPaths.length > 0) && (
        <PathList
          path={`${path}.sum_paths`}
          paths={sumPaths}
          label="Plus numbers at"
          addLabel="Add a list or another number"
          addHint="For a number in several parts, such as cached and other tokens of a prompt."
          onChange={(paths) => onChange(withPaths(value, 'sum_paths', paths))}
        />
      )}
      <RequiredField {...part} label="Required: fail events without it" />
    </>
  );
}

/** The bands as one line of text. Typed text is kept as long as it means the same bands. */
function BandsField({ value, path, onChange }: FormPart<DimensionConfig>) {
  const { isReadOnly } = useRulesForm();
  const [typed, setTyped] = useState('');
  const { bands = [] } = value;
  const isTyped = bandsIn(typed).join() === bands.join();
  return (
    <Field
      label="Bands"
      hint="Lower bounds in ascending order, such as 128001, 200001. The value becomes the highest bound reached, or 0. Empty: the number itself."
      error={useBandsFinding(`${path}.bands`, bands)}
    >
      {(control) => (
        <TextInput
          {...control}
          className="w-full font-mono text-xs"
          spellCheck={false}
          readOnly={isReadOnly}
          value={isTyped ? typed : bands.join(', ')}
          onChange={(event) => {
            const next = bandsIn(event.target.value);
            setTyped(event.target.value);
            onChange(withField(value, 'bands', next.length === 0 ? undefined : next));
          }}
        />
      )}
    </Field>
  );
}

/** The error of the bands, with the number of the wrong band. */
function useBandsFinding(path: string, bands: Bands): string | undefined {
  const { findings } = useRulesForm();
  for (const { path: place, message } of findings) {
    if (place === path) return message;
    const index = bands.findIndex((_, position) => place === `${path}[${position}]`);
    if (index >= 0) return `Band ${index + 1}: ${message}`;
  }
  return undefined;
}

const WHOLE_NUMBER = /^[1-9][0-9]{0,11}$/;

/** Parses bands from text: whole numbers as numbers, anything else as text. */
function bandsIn(text: string): Bands {
  const entries = text.split(/[,\s]+/).filter((entry) => entry !== '');
  return entries.map((entry) => (WHOLE_NUMBER.test(entry) ? Number(entry) : entry));
}
