/** Characters that control the text direction. Inside a text, one of them could end the isolation of that text. */
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Isolates external text within a sentence that is one string, so that right-to-left text does not reorder
 * what follows. In elements, `<bdi>` does the same.
 */
export function isolated(text: string): string {
  return `\u2068${text.replace(DIRECTION_CONTROLS, '')}\u2069`;
}
