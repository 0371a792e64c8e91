import { invalidRequest } from './errors.js';
import { childPath } from './field-path.js';

/** NUL, or half of a surrogate pair. */
const UNUSABLE = /\0|\p{Cs}/u;
const EACH_UNUSABLE = /\0|\p{Cs}/gu;

/**
 * Returns the path of the first string or key that PostgreSQL or UTF-8 cannot hold (NUL, lone surrogate); undefined
 * when all text is usable. `value` is JSON of bounded depth.
 */
export function firstUnusableText(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return isUsableText(value) ? undefined : path;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const found = firstUnusableText(value[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const [key, child] of Object.entries(value)) {
    if (!isUsableText(key)) return path;
    const found = firstUnusableText(child, childPath(path, key));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @throws DomainError `invalid_request` for text that `firstUnusableText` finds */
export function refuseUnusableText(value: unknown): void {
  const path = firstUnusableText(value);
  if (path !== undefined) throw invalidRequest(path, 'text must not contain NUL or a lone surrogate');
}

/** Whether the text contains neither NUL nor a lone surrogate. */
export function isUsableText(text: string): boolean {
  return !UNUSABLE.test(text);
}

/** Returns the text with U+FFFD in place of each NUL and each lone surrogate. */
export function toUsableText(text: string): string {
  return isUsableText(text) ? text : text.replace(EACH_UNUSABLE, '\ufffd');
}
