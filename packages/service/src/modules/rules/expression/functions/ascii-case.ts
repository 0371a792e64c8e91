const CODE_UPPER_A = 65;
const CODE_LOWER_A = 97;
const LETTERS = 26;

/**
 * Moves the 26 letters that begin at `from` to those that begin at `to`, and leaves every other character as it is: other
 * alphabets depend on the language, and may change the length.
 */
function moveLetters(text: string, from: number, to: number): string {
  const codes = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    codes[at] = code >= from && code < from + LETTERS ? code - from + to : code;
  }
  return String.fromCharCode(...codes);
}

export const lowerCased = (text: string) => moveLetters(text, CODE_UPPER_A, CODE_LOWER_A);
export const upperCased = (text: string) => moveLetters(text, CODE_LOWER_A, CODE_UPPER_A);
