import { useEffect, useState } from 'react';

/** Pause after the last change. */
const TYPING_PAUSE_MS = 250;

/** The value after it has not changed for a moment. Use it for requests while the user types. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
