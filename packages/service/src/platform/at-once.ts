/**
 * Runs `work` for each item, for at most `atOnceMax` of them at the same time, and returns the results in the order of
 * the items. After a failure it begins no more items.
 *
 * @throws the error of the first `work` that fails
 */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnceMax: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  let hasFailed = false;
  const runner = async () => {
    for (const [index, item] of waiting) {
      if (hasFailed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, runner));
  return results;
}

/**
 * Runs `work` for each item, for at most `atOnceMax` of them at the same time. After a failure it begins no more items,
 * and waits for those that it has begun.
 *
 * @throws the error of the first `work` that fails
 */
export async function forEachAtOnce<T>(
  items: AsyncIterable<T>,
  atOnceMax: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const item of items) {
    const one = work(item)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(one));
    running.add(one);
    if (running.size >= atOnceMax) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
