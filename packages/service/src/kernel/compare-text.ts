/**
 * Orders texts by UTF-16 code unit, the same on every machine and in every locale; returns a negative number, 0 or a
 * positive one.
 */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
