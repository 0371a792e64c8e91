/** A number as it is sent: people write thousands apart. */
export function plainNumber(text: string): string {
  return text.replace(/[\s,_]/g, '');
}
