import { useState } from 'react';
import { newIdempotencyKey } from './idempotency-key.js';

/**
 * An idempotency key for the request of a form. It changes with the request, so that sending the same request
 * twice executes it once.
 */
export function useRequestKey(request: unknown): string {
  const text = JSON.stringify(request);
  const [kept, setKept] = useState(() => ({ text, key: newIdempotencyKey() }));
  if (kept.text !== text) setKept({ text, key: newIdempotencyKey() });
  return kept.key;
}
