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

/** Adds an amount to the sum of a key; a sum starts with its first amount. */
export function addTo<Key>(sums: Map<Key, bigint>, key: Key, amount: bigint): void {
  const before = sums.get(key);
  sums.set(key, before === undefined ? amount : before + amount);
}
