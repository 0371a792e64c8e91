import { useState } from 'react';
import { newIdempotencyKey } from './idempotency-key.js';

/**
 * A key for a request that is being written: as long as it says the same, it is the same, and sent twice it
 * is done once.
 */
export function useRequestKey(request: unknown): string {
  const text = JSON.stringify(request);
  const [kept, setKept] = useState(() => ({ text, key: newIdempotencyKey() }));
  if (kept.text !== text) setKept({ text, key: newIdempotencyKey() });
  return kept.key;
}
