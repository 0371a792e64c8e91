import { useState } from 'react';
import { TextInput } from '../../../ui/field.js';
import { SearchForm } from '../../../ui/search-form.js';
import type { Subject } from './subject.js';

/** Form to choose a subject by type and ID. */
export function SubjectForm({
  initial,
  action,
  onSubmit,
}: {
  readonly initial: Subject;
  readonly action: string;
  readonly onSubmit: (subject: Subject) => void;
}) {
  const [type, setType] = useState(initial.type);
  const [id, setId] = useState(initial.id);
  return (
    <SearchForm action={action} onSubmit={() => onSubmit({ type: type.trim(), id })}>
      <TextInput
        aria-label="Subject type"
        placeholder="Type, e.g. customer"
        required
        className="min-w-0 grow basis-36 sm:grow-0 sm:basis-44"
        value={type}
        onChange={(event) => setType(event.target.value)}
      />
      <TextInput
        aria-label="Subject ID"
        placeholder="ID"
        required
        className="min-w-0 grow basis-32 sm:grow-0 sm:basis-60"
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
    </SearchForm>
  );
}
