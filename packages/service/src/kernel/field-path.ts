const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Upper bound of the characters of a client's key that an error repeats. */
const KEY_CHARS_MAX = 64;

/** Returns the path of a member: `a` + `b` → `a.b`. Keys that are not plain words are quoted: `a["b c"]`. */
export function childPath(parent: string, key: string): string {
  const shown = key.length > KEY_CHARS_MAX ? `${key.slice(0, KEY_CHARS_MAX)}…` : key;
  if (!PLAIN_KEY.test(key)) return `${parent}[${JSON.stringify(shown)}]`;
  return parent === '' ? shown : `${parent}.${shown}`;
}

/** Converts a JSON pointer into `root` to the notation of errors: `/items/1/metric` → `items[1].metric`. */
export function pathOfPointer(pointer: string, root: unknown): string {
  let path = '';
  let current = root;
  for (const segment of pointer.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    path = Array.isArray(current) ? `${path}[${key}]` : childPath(path, key);
    current = (current as Record<string, unknown> | undefined)?.[key];
  }
  return path;
}
