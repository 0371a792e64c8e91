/** Order of texts by UTF-16 code unit, the same on every machine and in every locale: negative, 0 or positive. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
