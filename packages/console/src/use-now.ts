import { useEffect, useState } from 'react';
import { nowS } from './clock.js';
import { usePageVisible } from './visibility.js';

/** The current Unix second, updated every `everyMs` while the page is visible. */
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
