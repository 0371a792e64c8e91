/**
 * Returns a value that must exist: a missing amount stops the work and never becomes zero.
 *
 * @param name describes the value in the error: `the limit of window 3`
 * @throws Error when the value is undefined
 */
export function present<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
}

/**
 * Returns a count, or 0 where nothing was counted: a table or a map of counts has no entry before the first one. Where
 * an entry must exist, use `present`.
 */
export function countOrNone(count: number | undefined): number {
  return count ?? 0;
}

/** The same for a sum. */
export function sumOrNone(sum: bigint | undefined): bigint {
  return sum ?? 0n;
}

/** Adds an amount to the sum of a key; a sum starts with its first amount. */
export function addTo<Key>(sums: Map<Key, bigint>, key: Key, amount: bigint): void {
  const before = sums.get(key);
  sums.set(key, before === undefined ? amount : before + amount);
}
