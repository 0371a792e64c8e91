/**
 * Text from outside, within a sentence that is one string: written from right to left, or turning its letters, it turns nothing
 * after it. Where there are elements, `<bdi>` does that.
 */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}
