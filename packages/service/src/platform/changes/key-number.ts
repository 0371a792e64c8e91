const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Returns the number that stands for a key in notes of changes: the hash FNV-1a of its UTF-16 code units, a signed
 * 32-bit integer. Keys may share a number: then a change of one is taken for a change of both.
 */
export function keyNumber(key: string): number {
  let hash = OFFSET_BASIS;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), PRIME);
  return hash | 0;
}
