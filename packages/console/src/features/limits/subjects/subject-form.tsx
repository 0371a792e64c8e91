import { Search } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../ui/button.js';
import { TextInput } from '../../../ui/field.js';
import type { Subject } from './subject.js';

/** Asks for a subject. */
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit({ type: type.trim(), id });
  };
  return (
    <search>
      <form onSubmit={submit} className="flex flex-wrap gap-2">
        <TextInput
          aria-label="Subject type"
          placeholder="Type, e.g. customer"
          required
          className="w-44"
          value={type}
          onChange={(event) => setType(event.target.value)}
        />
        <TextInput
          aria-label="Subject id"
          placeholder="Id"
          required
          className="w-60"
          value={id}
          onChange={(event) => setId(event.target.value)}
        />
        <Button type="submit">
          <Search size={14} />
          {action}
        </Button>
      </form>
    </search>
  );
}
