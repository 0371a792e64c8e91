import { useEffect, useState } from 'react';

/** Who types is let finish the word. */
const TYPING_PAUSE_MS = 250;

/** The value as it was when it last stood still for a moment: what is asked for while somebody types. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
