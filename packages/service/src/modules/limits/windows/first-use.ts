import { type TimeWindow, windowContains } from '../../../kernel/period.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { addValue } from './counted-values.js';
import type { CurrentWindows } from './current-windows.js';
import { pastWindowsAt } from './store.js';
import { emptySum, sumKey, takeSums, type WindowSum } from './subject-usage.js';

/** The usage of one second, and the window that it counts in. */
interface PlacedSum {
  readonly sum: WindowSum;
  readonly window: TimeWindow;
  readonly opens: boolean;
}

/**
 * Places the usage of `first_use` rules, which is summed by second, in windows: in the one that contains it or, after
 * the end of the newest, in one that it opens. Not counted is usage before the newest window that no window contains,
 * and usage outside of windows that is only taken back, or restored by a revert. The usage of a batch is placed in
 * ascending time.
 *
 * Runs no statement without late usage of such rules. The caller holds the posting lock.
 */
export async function placeFirstUses(tx: Tx, rows: readonly CurrentWindows[]): Promise<void> {
  const ofRows = rows
    .filter(({ usage }) => usage.route.rules.hasFirstUse)
    .map((row) => ({ row, sums: takeSums(row.usage, 'first_use') }));
  const placed: PlacedSum[] = [];
  const late: WindowSum[] = [];
  for (const { row, sums } of ofRows) placeInNewest(row, sums, placed, late);
  const past = await pastWindowsAt(tx, late);
  for (const sum of late) {
    const window = past.get(sum);
    if (window !== undefined) placed.push({ sum, window, opens: false });
  }
  for (const one of placed) addPlaced(one);
}

/**
 * Places usage in the newest windows of a subject, and in those that it opens.
 *
 * @param sums in ascending time
 * @param placed collects the usage that has a window
 * @param late collects usage before the newest window
 */
function placeInNewest(
  row: CurrentWindows,
  sums: readonly WindowSum[],
  placed: PlacedSum[],
  late: WindowSum[],
): void {
  const newest = new Map<number, TimeWindow>();
  for (const sum of sums) {
    const { ruleNo } = sum.rule;
    const atS = sum.window.startS;
    const last = newest.get(ruleNo) ?? row.windowOf(ruleNo);
    if (last !== undefined && atS < last.startS) late.push(sum);
    else if (last !== undefined && windowContains(last, atS))
      placed.push({ sum, window: last, opens: false });
    else {
      const window = windowOpenedBy(sum);
      if (window === undefined) continue;
      newest.set(ruleNo, window);
      placed.push({ sum, window, opens: true });
    }
  }
}

/** Returns the window that usage opens; undefined for none, and for usage that is only taken back. */
export function windowOpenedBy({ rule, window, used, values, opens }: WindowSum): TimeWindow | undefined {
  if (rule.period.kind !== 'first_use' || !opens || (used === 0n && values === undefined)) return undefined;
  return { startS: window.startS, endS: window.startS + rule.period.durationS };
}

function addPlaced({ sum, window, opens }: PlacedSum): void {
  const { usage, rule, used, values } = sum;
  usage.all ??= new Map();
  const key = sumKey({ rule, window });
  const total = usage.all.get(key) ?? emptySum(usage, rule, window);
  usage.all.set(key, total);
  total.used += used;
  total.opens ||= opens;
  for (const [value, occurrences] of values ?? []) addValue(total, value, occurrences);
}
