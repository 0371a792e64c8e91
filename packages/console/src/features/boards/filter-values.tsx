import { X } from 'lucide-react';
import { type KeyboardEvent, useId, useState } from 'react';
import { TextInput } from '../../ui/field.js';

/** Values, each whole whatever it holds: Enter adds what is written, and so does going on to another field. */
export function FilterValues({
  name,
  values,
  suggestions,
  onChange,
}: {
  readonly name: string;
  readonly values: readonly string[];
  readonly suggestions: readonly string[];
  readonly onChange: (values: readonly string[]) => void;
}) {
  const listId = useId();
  const [written, setWritten] = useState('');
  const add = () => {
    const value = written.trim();
    setWritten('');
    if (value !== '' && !values.includes(value)) onChange([...values, value]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && written.trim() !== '') {
      // Another Enter sends the form.
      event.preventDefault();
      add();
    } else if (event.key === 'Backspace' && written === '' && values.length > 0) {
      onChange(values.slice(0, -1));
    }
  };
  return (
    <div className="col-span-3 flex flex-col gap-1.5">
      <TextInput
        aria-label={`Add a value of ${name}`}
        placeholder="Type a value and press Enter"
        list={listId}
        value={written}
        onChange={({ target }) => setWritten(target.value)}
        onKeyDown={onKeyDown}
        onBlur={add}
      />
      <datalist id={listId}>
        {suggestions
          .filter((value) => !values.includes(value))
          .map((value) => (
            <option key={value} value={value} />
          ))}
      </datalist>
      {/* Has its row before there is a value: leaving the field by a button adds one, and must not move the button away. */}
      <ul aria-label={`Values of ${name}`} className="flex min-h-7.5 flex-wrap gap-1.5">
        {values.map((value) => (
          <li
            key={value}
            className="inline-flex max-w-full items-center gap-1 rounded-full border border-line-strong py-0.5 pr-1 pl-2.5 text-xs"
          >
            <span className="truncate">{value}</span>
            <button
              type="button"
              aria-label={`Remove ${value}`}
              onClick={() => onChange(values.filter((each) => each !== value))}
              className="grid size-6 shrink-0 place-items-center rounded-full hover:bg-sunken"
            >
              <X size={12} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
