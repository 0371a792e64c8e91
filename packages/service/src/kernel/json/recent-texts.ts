/** Upper bound of the bytes of a cached text; longer texts are decoded each time. */
const RECENT_BYTES_MAX = 40;

/** A cache of recent ASCII texts: many are the same in event after event, and need not be decoded again. */
export class RecentTexts {
  readonly #places: number;
  readonly #texts: string[] = [];

  /** @param places upper bound of the number of texts */
  constructor(places = 16) {
    this.#places = places;
  }

  /** Returns the text of these bytes, which are UTF-8. */
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
    // With as many characters as bytes it is ASCII, and its characters are its bytes.
    if (text.length === length) this.#texts[place] = text;
    return text;
  }
}
