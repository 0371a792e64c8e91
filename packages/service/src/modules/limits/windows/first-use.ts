import { type TimeWindow, windowContains } from '../../../kernel/period.js';
import { present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { addValue } from './counted-values.js';
import type { CurrentWindows } from './current-windows.js';
import { pastWindowsAt, pastWindowsBeside } from './first-use-store.js';
import { emptySum, sumKey, takeSums, type WindowSum } from './subject-usage.js';

/** The usage of one second, and the window that it counts in. */
interface PlacedSum {
  readonly sum: WindowSum;
  readonly window: TimeWindow;
  readonly opens: boolean;
}

/** The usage of `first_use` rules of a subject, which is summed by second, in ascending time. */
interface FirstUses {
  readonly row: CurrentWindows;
  readonly sums: readonly WindowSum[];
}

/**
 * Places the usage of `first_use` rules in windows: in the one that contains it or, after the end of the newest, in one
 * that it opens. The newest window is the newest that has begun: usage before a window of the future may open another
 * one, which ends where that begins. Not counted is usage before the newest window that no window contains, and usage
 * outside of windows that is only taken back, or restored by a revert. The usage of a batch is placed in ascending
 * time.
 *
 * Runs statements only for late usage of such rules, and where a window of the future is stored. The caller holds the
 * posting lock.
 *
 * @param nowS Unix seconds
 */
export async function placeFirstUses(tx: Tx, rows: readonly CurrentWindows[], nowS: number): Promise<void> {
  const uses = rows
    .filter(({ usage }) => usage.route.rules.hasFirstUse)
    .map((row): FirstUses => ({ row, sums: takeSums(row.usage, 'first_use') }));
  const begunWindows = await readBegunWindows(tx, uses, nowS);
  const placed: PlacedSum[] = [];
  const late: WindowSum[] = [];
  for (const { sums } of uses) placeInNewest(sums, begunWindows, placed, late);
  const past = await pastWindowsAt(tx, late);
  for (const sum of late) {
    const window = past.get(sum);
    if (window !== undefined) placed.push({ sum, window, opens: false });
  }
  for (const one of placed) addPlaced(one);
}

/** The stored windows that decide where usage is placed. */
interface BegunWindows {
  /** The newest that has begun, now or at the time of the usage. */
  readonly last: TimeWindow | undefined;
  /** When the next one begins; infinity without one. */
  readonly nextS: number;
}

async function readBegunWindows(
  tx: Tx,
  uses: readonly FirstUses[],
  nowS: number,
): Promise<(sum: WindowSum) => BegunWindows> {
  const begun = new Map<WindowSum, BegunWindows>();
  const ahead: { readonly sum: WindowSum; readonly atS: number; readonly currentS: number }[] = [];
  for (const { row, sums } of uses) {
    for (const sum of sums) {
      const current = row.windowOf(sum.rule.ruleNo);
      const atS = Math.max(sum.window.startS, nowS);
      if (current === undefined || current.startS <= atS)
        begun.set(sum, { last: current, nextS: Number.POSITIVE_INFINITY });
      else ahead.push({ sum, atS, currentS: current.startS });
    }
  }
  const beside = await pastWindowsBeside(tx, ahead);
  for (const { sum, currentS } of ahead) {
    const { last, nextS = currentS } = present(beside.get(sum), 'the windows beside usage');
    begun.set(sum, { last, nextS });
  }
  return (sum) => present(begun.get(sum), 'the windows of usage');
}

/**
 * Places usage in the newest windows of a subject that have begun, and in those that it opens.
 *
 * @param sums in ascending time
 * @param placed collects the usage that has a window
 * @param late collects usage before the newest window
 */
function placeInNewest(
  sums: readonly WindowSum[],
  begunWindows: (sum: WindowSum) => BegunWindows,
  placed: PlacedSum[],
  late: WindowSum[],
): void {
  const opened = new Map<number, TimeWindow>();
  for (const sum of sums) {
    const { ruleNo } = sum.rule;
    const atS = sum.window.startS;
    const { last: stored, nextS } = begunWindows(sum);
    const last = newerOf(opened.get(ruleNo), stored);
    if (last !== undefined && atS < last.startS) late.push(sum);
    else if (last !== undefined && windowContains(last, atS))
      placed.push({ sum, window: last, opens: false });
    else {
      const window = windowOpenedBy(sum, nextS);
      if (window === undefined) continue;
      opened.set(ruleNo, window);
      placed.push({ sum, window, opens: true });
    }
  }
}

function newerOf(one: TimeWindow | undefined, other: TimeWindow | undefined): TimeWindow | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.startS > other.startS ? one : other;
}

/**
 * Returns the window that usage opens; undefined for none, and for usage that is only taken back.
 *
 * @param nextS when the next window begins: this one ends there at the latest
 */
export function windowOpenedBy(
  { rule, window, used, values, opens }: WindowSum,
  nextS = Number.POSITIVE_INFINITY,
): TimeWindow | undefined {
  if (rule.period.kind !== 'first_use' || !opens || (used === 0n && values === undefined)) return undefined;
  return { startS: window.startS, endS: Math.min(window.startS + rule.period.durationS, nextS) };
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
