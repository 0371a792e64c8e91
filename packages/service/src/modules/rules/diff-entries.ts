import { compareText } from '../../kernel/compare-text.js';
/** An entry of a list that is identified by its name or, without one, by its metric or its pattern. */
export type ConfigEntry = Readonly<Record<string, unknown>>;

export interface PairedEntries {
  /** Entries that only the earlier list has, in its order. */
  readonly removed: readonly { readonly label: string; readonly entry: ConfigEntry }[];
  /** The current list. */
  readonly present: readonly {
    readonly label: string;
    readonly entry: ConfigEntry;
    /** The earlier entry; undefined for an added one. */
    readonly was: ConfigEntry | undefined;
    /** Whether its order among the entries that both lists have has changed. */
    readonly isMoved: boolean;
  }[];
}

export function isEntryList(value: unknown): value is readonly ConfigEntry[] {
  return Array.isArray(value) && value.every((entry) => nameOf(entry) !== undefined);
}

/**
 * Finds the earlier state of each entry. Names may repeat (rules without a name that price one metric): equal entries
 * are paired first, the others of one name in their order.
 */
export function pairEntries(before: readonly ConfigEntry[], after: readonly ConfigEntry[]): PairedEntries {
  const labels = new Labels();
  const labelsBefore = before.map((entry) => labels.make(entry));
  const indexesBefore = matchEntries(before, after);
  const inOrder = longestRise(indexesBefore.filter((index) => index !== undefined));
  const kept = new Set(indexesBefore);
  const removed = before.flatMap((entry, index) =>
    kept.has(index) ? [] : [{ label: labelsBefore[index] ?? '', entry }],
  );
  const present = after.map((entry, position) => {
    const index = indexesBefore[position];
    if (index === undefined) return { label: labels.make(entry), entry, was: undefined, isMoved: false };
    const isMoved = !inOrder.has(index);
    return { label: labelsBefore[index] ?? '', entry, was: before[index], isMoved };
  });
  return { removed, present };
}

/** Returns for each entry of `after` the index of its counterpart in `before`. */
function matchEntries(before: readonly ConfigEntry[], after: readonly ConfigEntry[]): (number | undefined)[] {
  const matches = matchBy(contentOf, before, after, new Array(after.length).fill(undefined));
  return matchBy((entry) => nameOf(entry) ?? '', before, after, matches);
}

/** Pairs entries that have no counterpart yet and an equal key, first with first. */
function matchBy(
  keyOf: (entry: ConfigEntry) => string,
  before: readonly ConfigEntry[],
  after: readonly ConfigEntry[],
  matches: readonly (number | undefined)[],
): (number | undefined)[] {
  const taken = new Set(matches);
  // Last first, so that the first is popped first.
  const free = new Map<string, number[]>();
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const entry = before[index];
    if (entry === undefined || taken.has(index)) continue;
    const key = keyOf(entry);
    const indexes = free.get(key);
    if (indexes === undefined) free.set(key, [index]);
    else indexes.push(index);
  }
  return after.map((entry, position) => matches[position] ?? free.get(keyOf(entry))?.pop());
}

/** Returns the members of a longest ascending subsequence (patience sorting); members of `sequence` are distinct. */
function longestRise(sequence: readonly number[]): Set<number> {
  // The last members of the best subsequences found so far, by length, and the predecessor of each member.
  const ends: number[] = [];
  const previous = new Map<number, number | undefined>();
  for (const member of sequence) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] ?? Number.POSITIVE_INFINITY) < member) low = middle + 1;
      else high = middle;
    }
    previous.set(member, ends[low - 1]);
    ends[low] = member;
  }
  const rise = new Set<number>();
  for (let member = ends.at(-1); member !== undefined; member = previous.get(member)) rise.add(member);
  return rise;
}

/** Gives each entry of a list a unique label: its name, with a number where the name is taken. */
class Labels {
  readonly #taken = new Set<string>();
  /** The number that the next entry of that name tries first. */
  readonly #nextByName = new Map<string, number>();

  make(entry: ConfigEntry): string {
    const name = nameOf(entry) ?? '';
    let label = name;
    let next = this.#nextByName.get(name) ?? 2;
    while (this.#taken.has(label)) {
      label = `${name}#${next}`;
      next += 1;
    }
    this.#nextByName.set(name, next);
    this.#taken.add(label);
    return PLAIN.test(label) ? label : JSON.stringify(label);
  }
}

/** Labels that need no quotes in a path. */
const PLAIN = /^[\p{L}\p{N}_][\p{L}\p{N}_ .:/#-]*$/u;

function nameOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { name, metric, pattern } = entry as ConfigEntry;
  return [name, metric, pattern].find((text) => typeof text === 'string') as string | undefined;
}

function contentOf(entry: ConfigEntry): string {
  return JSON.stringify(Object.entries(entry).sort(([a], [b]) => compareText(a, b)));
}
