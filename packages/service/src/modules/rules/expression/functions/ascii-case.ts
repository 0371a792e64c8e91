const CODE_UPPER_A = 65;
const CODE_LOWER_A = 97;
const LETTERS = 26;

/**
 * Moves the 26 letters that begin at `from` to those that begin at `to`, and leaves every other character as
 * it is: other alphabets depend on the language, and may change the length.
 */
function moveLetters(text: string, from: number, to: number): string {
  const bytes = Buffer.from(text, 'utf16le');
  for (let at = 0; at < bytes.length; at += 2) {
    const low = bytes[at] as number;
    if (bytes[at + 1] === 0 && low >= from && low < from + LETTERS) bytes[at] = low - from + to;
  }
  return bytes.toString('utf16le');
}

export const lowerCased = (text: string) => moveLetters(text, CODE_UPPER_A, CODE_LOWER_A);
export const upperCased = (text: string) => moveLetters(text, CODE_LOWER_A, CODE_UPPER_A);
