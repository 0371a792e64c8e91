import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { TextInput } from './field.js';

/** Who types is let finish the word. */
const TYPING_PAUSE_MS = 300;

/** One filter as text: what is typed counts after a pause, and what the address says is shown. */
export function FilterInput({
  label,
  value,
  suggestions = [],
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly suggestions?: readonly string[];
  readonly onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const told = useRef(value);
  const tell = useRef(onChange);
  useEffect(() => {
    tell.current = onChange;
  });
  // From elsewhere, as by a link: not what was just typed, which may have gone on meanwhile.
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setText(value);
  }, [value]);
  // A layout effect ends with the sight of it: while the next page is loaded, React keeps this one, hidden,
  // and what was typed last would lead back here.
  useLayoutEffect(() => {
    const trimmed = text.trim();
    if (trimmed === told.current) return;
    const timer = setTimeout(() => {
      told.current = trimmed;
      tell.current(trimmed);
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const listId = `suggested-${label.replaceAll(' ', '-')}`;
  return (
    <>
      <TextInput
        aria-label={label}
        placeholder={label}
        spellCheck={false}
        className="w-[calc(50%-0.25rem)] sm:w-36"
        list={suggestions.length === 0 ? undefined : listId}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  );
}
