import { X } from 'lucide-react';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { TextInput } from '../../ui/field.js';

/** A list of text values. Enter or leaving the field adds the input as a value. */
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
  const input = useRef<HTMLInputElement>(null);
  // A suggestion is not trimmed, because it may begin or end with spaces.
  const value = suggestions.includes(written) ? written : written.trim();
  const add = () => {
    setWritten('');
    if (value !== '' && !values.includes(value)) onChange([...values, value]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // During composition, as in Japanese, Enter only ends the composition.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter' && value !== '') {
      // With an empty input, Enter submits the form.
      event.preventDefault();
      add();
    } else if (event.key === 'Backspace' && !event.repeat && written === '' && values.length > 0) {
      onChange(values.slice(0, -1));
    }
  };
  const remove = (gone: string) => {
    onChange(values.filter((each) => each !== gone));
    // The focused button disappears with its value.
    input.current?.focus();
  };
  return (
    <div className="col-span-3 flex flex-col gap-1.5">
      <TextInput
        ref={input}
        aria-label={`Add value for ${name}`}
        placeholder="Type a value and press Enter"
        list={listId}
        value={written}
        onChange={({ target }) => setWritten(target.value)}
        onKeyDown={onKeyDown}
        onBlur={add}
      />
      <datalist id={listId}>
        {suggestions
          .filter((each) => !values.includes(each))
          .map((each) => (
            <option key={each} value={each} />
          ))}
      </datalist>
      <Values name={name} values={values} onRemove={remove} />
    </div>
  );
}

/** Keeps its row while it is empty: leaving the field by a click adds a value, which must not move the button. */
function Values({
  name,
  values,
  onRemove,
}: {
  readonly name: string;
  readonly values: readonly string[];
  readonly onRemove: (value: string) => void;
}) {
  return (
    <ul aria-label={`Values for ${name}`} className="flex min-h-7.5 flex-wrap gap-1.5">
      {values.map((value) => (
        <li
          key={value}
          className="inline-flex max-w-full items-center gap-1 rounded-full border border-line-strong py-0.5 pr-1 pl-2.5 text-xs"
        >
          <span className="truncate">{value}</span>
          <button
            type="button"
            aria-label={`Remove ${value}`}
            onClick={() => onRemove(value)}
            className="grid size-6 shrink-0 place-items-center rounded-full hover:bg-sunken"
          >
            <X size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}
