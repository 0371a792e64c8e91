import type { AnalysisRow } from '@tollgate/contract';
import { exactSum, negated } from '../../exact-sum.js';

/** From the buckets of one set to those of the next. */
export interface LineStep {
  /** By index of the next times: the index of the same numbers before, or undefined if they must be read. */
  readonly kept: readonly (number | undefined)[];
  /** Indexes of the next times that are to be read. */
  readonly added: readonly number[];
  /** Indexes of the previous times that are dropped. */
  readonly removed: readonly number[];
}

/** The numbers of one metric, unit and group, or of others. */
export interface Line {
  readonly key: string;
  /** The first of its rows. */
  readonly row: AnalysisRow;
  /** By index of the times. */
  readonly values: Float64Array;
  readonly exact: (string | undefined)[];
  readonly total: string;
}

export function newLine(key: string, row: AnalysisRow, length: number): Line {
  return { key, row, values: new Float64Array(length), exact: new Array(length).fill(undefined), total: '0' };
}

/** The line with only the kept points, and their total. A plain loop, because each update runs over all points. */
export function moved(line: Line, { kept, removed }: LineStep): Line {
  const next = newLine(line.key, line.row, kept.length);
  for (let index = 0; index < kept.length; index++) {
    const from = kept[index];
    if (from === undefined) continue;
    next.values[index] = line.values[from] ?? 0;
    next.exact[index] = line.exact[from];
  }
  return { ...next, total: exactSum([line.total, ...textsAt(line, removed).map(negated)]) };
}

export function textsAt({ exact }: Line, indexes: readonly number[]): string[] {
  return indexes.flatMap((index) => exact[index] ?? []);
}

export function put({ values, exact }: Line, index: number, value: string): void {
  const there = exact[index];
  const sum = there === undefined ? value : exactSum([there, value]);
  exact[index] = sum;
  values[index] = Number(sum);
}
