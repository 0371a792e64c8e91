import type { AuditEntry } from '@tollgate/contract';

/**
 * One place of what was written, and what stood there before. Values are JSON texts; undefined where there is
 * nothing.
 */
export interface ChangedPlace {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What an entry can be compared with, by its verb: those before it that tell the same things as it does. */
const COMPARABLE: Readonly<Record<string, RegExp>> = { update: /\.(create|update)$/, publish: /\.publish$/ };

/** The entry that says how the thing stood before this one; undefined where none does. @param history newest first */
export function entryBefore(entry: AuditEntry, history: readonly AuditEntry[]): AuditEntry | undefined {
  const verb = entry.action.slice(entry.action.lastIndexOf('.') + 1);
  const comparable = Object.hasOwn(COMPARABLE, verb) ? COMPARABLE[verb] : undefined;
  const index = history.findIndex(({ id }) => id === entry.id);
  if (comparable === undefined || index < 0) return undefined;
  return history.slice(index + 1).find(({ action, change }) => comparable.test(action) && isObject(change));
}

/** The places of `after` and `before` that differ, in the order in which they were written. */
export function placesChanged(before: unknown, after: unknown): ChangedPlace[] {
  const [old, now] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...now.keys(), ...old.keys()])];
  return paths
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }))
    .filter((place) => place.before !== place.after);
}

function leavesOf(value: unknown, path = '', leaves = new Map<string, string>()): Map<string, string> {
  if (isObject(value) && (path === '' || Object.keys(value).length > 0)) {
    for (const [name, each] of Object.entries(value)) {
      const place = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
      leavesOf(each, place, leaves);
    }
  } else if (value !== null && value !== undefined) leaves.set(path, JSON.stringify(value));
  return leaves;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
