import { groupBy } from '../../kernel/maps.js';
import type { Tx } from '../../platform/postgres/index.js';
import { type CountableItem, type Counter, countedValue } from './counter.js';
import { CounterPeriod } from './counter-period.js';
import * as store from './counter-store.js';

/** A period to be changed, and the items that are taken out of it or put in. */
export interface WantedPeriod {
  readonly counter: Counter;
  readonly key: Buffer;
  /** Unix seconds. */
  readonly startS: number;
  /** Exclusive; undefined for a lifetime. */
  readonly endS: number | undefined;
  readonly items: readonly CountableItem[];
}

/**
 * Returns periods with all values that the items need; a period that is not stored is empty. Undefined for one that is
 * not stored while another period contains a part of it: one with the same start may have another end, by other
 * settings. The slot of the project must be locked.
 */
export async function storedPeriods(
  tx: Tx,
  wanted: readonly WantedPeriod[],
): Promise<(CounterPeriod | undefined)[]> {
  const stored = await store.readPeriods(tx, wanted);
  const byKey = groupBy(stored, ({ key }) => key.toString('hex'));
  const periods = wanted.map(({ counter, key, startS, endS }) => {
    const near = byKey.get(key.toString('hex')) ?? [];
    const found = near.find((period) => period.startS === startS && period.endS === endS);
    const overlaps = ({ startS: from, endS: to }: CounterPeriod) =>
      (endS === undefined || from < endS) && (to === undefined || to > startS);
    if (found === undefined && near.some(overlaps)) return undefined;
    return found ?? new CounterPeriod(counter, key, startS, endS);
  });
  const asked: store.PeriodValue[] = [];
  for (const [index, period] of periods.entries()) {
    const items = wanted[index]?.items ?? [];
    if (period?.isStored !== true) continue;
    const values = new Set(items.flatMap((item) => countedValue(period.counter, item) ?? []));
    for (const value of values) asked.push({ period, value });
    // As many may be taken out, and then the next one is the greatest.
    if (period.counter.definition.aggregate === 'max') await store.readGreatest(tx, period, items.length + 1);
  }
  await store.readValues(tx, asked);
  return periods;
}
