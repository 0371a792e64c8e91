import {
  COUNTER_MEASURES,
  type CounterDifference,
  type CounterRecount,
  VERIFY_DIFFERENCES_MAX,
} from '@tollgate/contract';
import { equals, toText } from '../../kernel/decimal.js';
import { onSnapshot } from '../../platform/postgres/index.js';
import { everyTable, projectsWithOwnTables } from '../storage/index.js';
import { completeFromS, type PostingCheckDeps } from './check-deps.js';
import { decimalOf } from './compare.js';
import { sumCountedItems } from './counter-history-store.js';
import {
  type CounterSums,
  type DefinedCounterRow,
  readCounterPeriods,
  readDefinedCounters,
} from './counter-store.js';
import { readWaiting } from './totals-store.js';

/** Upper bound of the periods of one counter that are compared, which bounds the memory. */
const PERIODS_MAX = 100_000;
const NOTHING = { quantity: '0', amount: '0', itemCount: '0', valueCount: '0', values: '0' } as const;
const FIELDS = {
  quantity: 'quantity',
  amount: 'amount',
  item_count: 'itemCount',
  value_count: 'valueCount',
  values: 'values',
} as const;

/**
 * Compares the counters with the charge items that name them, one counter of a rule set after the other. Both sides are
 * read as in `verifyUsage`: periods that were the same before and after ClickHouse was read are judged.
 */
export async function verifyCounters(deps: PostingCheckDeps): Promise<CounterRecount> {
  const { postgres } = deps;
  const tally = new CounterTally();
  for (const defined of await onSnapshot(postgres, readDefinedCounters))
    await verifyCounter(deps, defined, tally);
  return tally.result();
}

async function verifyCounter(
  { postgres, clickhouse, losses, wait }: PostingCheckDeps,
  defined: DefinedCounterRow,
  tally: CounterTally,
): Promise<void> {
  const read = () =>
    onSnapshot(postgres, async (tx) => ({
      ...(await readCounterPeriods(tx, defined, PERIODS_MAX)),
      waiting: await readWaiting(tx),
    }));
  const before = await read();
  const stalled = await wait(before.waiting);
  const own = await projectsWithOwnTables(postgres.db);
  const isCut = before.total > before.periods.length;
  // With more periods than are read, the oldest that was read may have others beside it that were not.
  const fromS = isCut ? (before.periods.at(-1)?.periodStart ?? 0) + 1 : Number.MIN_SAFE_INTEGER;
  const counted = await sumCountedItems(
    await clickhouse.upToDate(everyTable(own)),
    own,
    defined,
    fromS,
    PERIODS_MAX,
  );
  const after = await read();
  const completeFrom = Math.max((await completeFromS({ postgres, losses }))(defined.projectId), fromS);
  const ofBefore = byPeriod(before.periods);
  const ofAfter = byPeriod(after.periods);
  const found = byPeriod(counted);
  tally.unjudged += before.total - before.periods.length;
  for (const [key, period] of new Map([...found, ...ofAfter, ...ofBefore])) {
    const stored = ofBefore.get(key) ?? NOTHING;
    const isSettled = isSame(stored, ofAfter.get(key) ?? NOTHING) && !stalled.has(defined.projectId);
    if (period.periodStart < completeFrom || counted.length > PERIODS_MAX) tally.unjudged += 1;
    else if (isSettled) tally.compare(defined, period, found.get(key) ?? NOTHING, stored);
    else tally.unsettled += 1;
  }
}

type Sums = Pick<CounterSums, (typeof FIELDS)[keyof typeof FIELDS]>;

function isSame(a: Sums, b: Sums): boolean {
  return Object.values(FIELDS).every((field) => a[field] === b[field]);
}

function byPeriod(periods: readonly CounterSums[]): Map<string, CounterSums> {
  return new Map(
    periods.map((period) => {
      const { subjectType, subjectId, accountId, by, periodStart } = period;
      return [JSON.stringify([subjectType, subjectId, accountId, by, periodStart]), period];
    }),
  );
}

class CounterTally {
  unjudged = 0;
  unsettled = 0;
  #compared = 0;
  #differenceCount = 0;
  readonly #differences: CounterDifference[] = [];

  compare(defined: DefinedCounterRow, period: CounterSums, expected: Sums, found: Sums): void {
    this.#compared += 1;
    // The last charge item of a period may have been taken back: then its total means nothing.
    const isEmpty = expected.itemCount === '0' && found.itemCount === '0';
    for (const measure of COUNTER_MEASURES) {
      const [should, is] = [expected, found].map((sums) => decimalOf(sums[FIELDS[measure]]));
      if (should === undefined || is === undefined || equals(should, is)) continue;
      if (isEmpty && measure === 'quantity') continue;
      this.#add({ ...placeOf(defined, period), measure, expected: toText(should), found: toText(is) });
    }
  }

  result(): CounterRecount {
    return {
      counters: this.#compared,
      counters_unjudged: this.unjudged,
      unsettled: this.unsettled,
      difference_count: this.#differenceCount,
      differences: this.#differences,
    };
  }

  #add(difference: CounterDifference): void {
    this.#differenceCount += 1;
    if (this.#differences.length < VERIFY_DIFFERENCES_MAX) this.#differences.push(difference);
  }
}

function placeOf(
  { tenantId, projectId, ruleSetId, counter, definition }: DefinedCounterRow,
  period: CounterSums,
) {
  return {
    tenant_id: tenantId,
    project_id: projectId,
    rule_set_id: ruleSetId,
    counter,
    subject_type: period.subjectType || null,
    subject_id: period.subjectId || null,
    account_id: period.accountId || null,
    by: Object.fromEntries(definition.by.map((name, index) => [name, period.by[index] ?? null])),
    period_start: period.periodStart,
  };
}
