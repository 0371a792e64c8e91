/** Which rows of a price table to import; an empty list selects all. */
export interface ModelSelection {
  /** Names with `*` for any characters and `?` for one. */
  readonly models: readonly string[];
  /** Values of `litellm_provider`. */
  readonly providers: readonly string[];
}

/**
 * Whether the whole of `text` matches a pattern of `*` and `?`; takes time proportional to the product of both lengths
 * at most.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let [at, from] = [0, 0];
  // Where to continue after the last star, when the text after it does not match here.
  let [afterStar, retryFrom] = [-1, 0];
  while (from < text.length) {
    if (pattern[at] === '*') {
      at += 1;
      [afterStar, retryFrom] = [at, from];
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[from])) {
      at += 1;
      from += 1;
    } else if (afterStar >= 0) {
      retryFrom += 1;
      [at, from] = [afterStar, retryFrom];
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
