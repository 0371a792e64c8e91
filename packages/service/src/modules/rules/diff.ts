import { isDeepStrictEqual } from 'node:util';
import { RULE_SET_CHANGES_BYTES_MAX, RULE_SET_CHANGES_MAX, type RuleSetChange } from '@tollgate/contract';
import { type ConfigEntry, isEntryList, pairEntries } from './diff-entries.js';
import type { RuleSetKind } from './kinds.js';
import type { StoredVersion } from './store.js';

/** The first changes that fit the bounds for showing and logging; the rest is counted. */
export interface BoundedChanges {
  readonly changes: readonly RuleSetChange[];
  readonly changes_omitted: number;
}

/**
 * Returns the changes that turn `before` into `after`, both JSON. Fields are compared by their paths. List entries that
 * have names are paired by name, so that an entry that only moved is not a new one; any other list is one value.
 *
 * To apply a list of changes: first remove the removed and moved entries, then insert the added and moved ones by
 * ascending position, then set the fields that changed.
 */
export function diffConfigs(before: object, after: object): RuleSetChange[] {
  return [...diffFields(before as Fields, after as Fields, '')];
}

/** Returns the first changes that fit the bounds. */
export function boundChanges(changes: readonly RuleSetChange[]): BoundedChanges {
  let bytes = 0;
  const isOver = (change: RuleSetChange, index: number) => {
    bytes += Buffer.byteLength(JSON.stringify(change));
    return index >= RULE_SET_CHANGES_MAX || bytes > RULE_SET_CHANGES_BYTES_MAX;
  };
  const cut = changes.findIndex(isOver);
  if (cut === -1) return { changes, changes_omitted: 0 };
  return { changes: changes.slice(0, cut), changes_omitted: changes.length - cut };
}

type Fields = Readonly<Record<string, unknown>>;

function* diffFields(before: Fields, after: Fields, prefix: string): Generator<RuleSetChange> {
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    yield* diffValues(before[field], after[field], prefix + field);
  }
}

function* diffValues(before: unknown, after: unknown, path: string): Generator<RuleSetChange> {
  if (isDeepStrictEqual(before, after)) return;
  if (isEntryList(before) && isEntryList(after)) yield* diffEntries(before, after, path);
  else if (isObject(before) && isObject(after)) yield* diffFields(before, after, `${path}.`);
  else if (before === undefined) yield { path, change: 'added', after };
  else if (after === undefined) yield { path, change: 'removed', before };
  else yield { path, change: 'changed', before, after };
}

/** Removed entries come first, then the current ones in their order. */
function* diffEntries(
  before: readonly ConfigEntry[],
  after: readonly ConfigEntry[],
  list: string,
): Generator<RuleSetChange> {
  const { removed, present } = pairEntries(before, after);
  for (const { label, entry } of removed) {
    yield { path: `${list}[${label}]`, change: 'removed', before: entry };
  }
  for (const [position, { label, entry, was, isMoved }] of present.entries()) {
    const path = `${list}[${label}]`;
    if (was === undefined) yield { path, change: 'added', after: entry, position };
    else {
      if (isMoved) yield { path, change: 'moved', position };
      yield* diffFields(was, entry, `${path}.`);
    }
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The changes since the previous version; null for the first version. The list is bounded: changes left out are
 * counted.
 */
export interface VersionChanges {
  readonly changes: readonly RuleSetChange[] | null;
  readonly changes_omitted: number;
}

/** Compares two versions of a rule set by the fields that responses show. */
export function versionChanges<Config extends object>(
  kind: Pick<RuleSetKind<never, Config>, 'shownConfig'>,
  before: StoredVersion<Config> | undefined,
  after: StoredVersion<Config>,
): VersionChanges {
  if (before === undefined) return { changes: null, changes_omitted: 0 };
  const shown = ({ name, template_id, effective_from, config }: StoredVersion<Config>) => ({
    name: name ?? '',
    template_id,
    effective_from,
    ...kind.shownConfig(config),
  });
  return boundChanges(diffConfigs(shown(before), shown(after)));
}
