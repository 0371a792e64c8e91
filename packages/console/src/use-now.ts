import { useEffect, useState } from 'react';
import { nowS } from './clock.js';
import { usePageVisible } from './visibility.js';

/** The current second, read again every `everyMs` while anybody can see the page. */
export function useNowS(everyMs: number): number {
  const [atS, setAtS] = useState(nowS);
  const isVisible = usePageVisible();
  useEffect(() => {
    if (!isVisible) return;
    setAtS(nowS());
    const timer = setInterval(() => setAtS(nowS()), everyMs);
    return () => clearInterval(timer);
  }, [isVisible, everyMs]);
  return atS;
}
