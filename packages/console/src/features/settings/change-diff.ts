import type { AuditEntry } from '@tollgate/contract';

/**
 * A changed value and its path. Values are JSON texts; undefined stands for a missing value.
 */
export interface ChangedPlace {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** By verb, the actions of earlier entries that contain the same fields and can be compared. */
const COMPARABLE: Readonly<Record<string, RegExp>> = { update: /\.(create|update)$/, publish: /\.publish$/ };

/** The earlier entry with the previous values; undefined if there is none. @param history newest first */
export function entryBefore(entry: AuditEntry, history: readonly AuditEntry[]): AuditEntry | undefined {
  const verb = entry.action.slice(entry.action.lastIndexOf('.') + 1);
  const comparable = Object.hasOwn(COMPARABLE, verb) ? COMPARABLE[verb] : undefined;
  const index = history.findIndex(({ id }) => id === entry.id);
  if (comparable === undefined || index < 0) return undefined;
  return history.slice(index + 1).find(({ action, change }) => comparable.test(action) && isObject(change));
}

/** The paths at which `before` and `after` differ, in the order of `after`. */
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
