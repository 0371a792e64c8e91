import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { classes } from './classes.js';
import { TextInput } from './field.js';

/** Pause after typing before the filter is applied. */
const TYPING_PAUSE_MS = 300;

/** A text filter. Input is applied after a pause; a change of the address is shown at once. */
export function FilterInput({
  label,
  value,
  suggestions = [],
  isWide = false,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly suggestions?: readonly string[];
  readonly isWide?: boolean;
  readonly onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const applied = useRef(value);
  const apply = useRef(onChange);
  useEffect(() => {
    apply.current = onChange;
  });
  // Shows a change from elsewhere, such as a link, but not the filter's own change: the user may type on.
  useEffect(() => {
    if (value === applied.current) return;
    applied.current = value;
    setText(value);
  }, [value]);
  // A layout effect is cleaned up when the page is hidden. While the next page loads, React keeps this one hidden,
  // and an effect would still apply the last input and navigate back here.
  useLayoutEffect(() => {
    const trimmed = text.trim();
    if (trimmed === applied.current) return;
    const timer = setTimeout(() => {
      applied.current = trimmed;
      apply.current(trimmed);
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
        className={classes('w-[calc(50%-0.25rem)]', isWide ? 'sm:w-52' : 'sm:w-36')}
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
