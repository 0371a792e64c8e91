/** Removes thousands separators from a number that a person typed. */
export function plainNumber(text: string): string {
  return text.replace(/[\s,_]/g, '');
}
