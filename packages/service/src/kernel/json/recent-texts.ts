/** Longer texts are made anew each time. */
const RECENT_BYTES_MAX = 40;

/** ASCII texts that were read lately: many are the same in event after event, and need not be made anew. */
export class RecentTexts {
  readonly #places: number;
  readonly #texts: string[] = [];

  /** @param places for how many texts at most */
  constructor(places = 16) {
    this.#places = places;
  }

  /** The text of these bytes, which are UTF-8. */
  textOf(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length === 0 || length > RECENT_BYTES_MAX) return bytes.toString('utf8', start, end);
    const place = ((bytes[start] as number) + 3 * (bytes[end - 1] as number) + 7 * length) % this.#places;
    const recent = this.#texts[place];
    if (recent !== undefined && recent.length === length) {
      let at = 0;
      while (at < length && recent.charCodeAt(at) === bytes[start + at]) at++;
      if (at === length) return recent;
    }
    const text = bytes.toString('utf8', start, end);
    // As many characters as bytes: then it is ASCII, and its characters are its bytes.
    if (text.length === length) this.#texts[place] = text;
    return text;
  }
}
