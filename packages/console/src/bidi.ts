/** Characters that turn, hold apart or end what is held apart: one within a text could end what holds that text. */
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text from outside, within a sentence that is one string: written from right to left, or turning its
 * letters, it turns nothing after it. Where there are elements, `<bdi>` does that.
 */
export function isolated(text: string): string {
  return `\u2068${text.replace(DIRECTION_CONTROLS, '')}\u2069`;
}
