import { exactSum } from '../../exact-sum.js';
import { type Line, type LineStep, moved, newLine, put } from './line.js';

/** Lines of one currency that are summed as others, because next to the largest they would show as zero. */
export interface Fold {
  readonly members: readonly Line[];
  readonly line: Line;
}

/** Decimals that the largest amount shows: two for cents, or more if it is less than one. */
const CENTS = 2;

/**
 * Sums the lines of amounts too small to be seen, together with the line of all others, if any. Groups are
 * summed within their metric, as the service sums those past a limit; lines without groups are summed over
 * all metrics.
 *
 * @param before result of the last step; unchanged sums are not computed again
 */
export function foldsOf(lines: readonly Line[], before: readonly Fold[], step: LineStep): Fold[] {
  const candidates = new Map<string, Line[]>();
  const largest = new Map<string, number>();
  for (const { row, total } of lines) {
    const unit = row.currency ?? '';
    largest.set(unit, Math.max(largest.get(unit) ?? 0, Math.abs(Number(total))));
  }
  for (const line of lines) {
    const unit = line.row.currency ?? '';
    if (line.row.other !== true && !isSmall(line.total, largest.get(unit) ?? 0)) continue;
    const hasGroup = line.row.other === true || Object.keys(line.row.group).length > 0;
    const metric = hasGroup ? line.row.metric : null;
    const key = `${metric}\n${unit}\nother`;
    const known = candidates.get(key);
    if (known === undefined) candidates.set(key, [line]);
    else known.push(line);
  }
  return [...candidates]
    .filter(([, members]) => members.length > 1)
    .map(([key, members]) => foldOf(key, members, before, step));
}

function isSmall(total: string, largest: number): boolean {
  const digits = largest >= 1 ? CENTS : CENTS - Math.floor(Math.log10(largest));
  return largest > 0 && Math.abs(Number(total)) < 10 ** -digits;
}

function foldOf(key: string, unordered: readonly Line[], before: readonly Fold[], step: LineStep): Fold {
  const members = unordered.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const [first] = members;
  if (first === undefined) throw new Error('cannot sum zero lines');
  const metrics = new Set(members.map(({ row }) => row.metric));
  const row = { ...first.row, metric: metrics.size === 1 ? first.row.metric : null };
  const known = before.find(({ line, members: last }) => line.key === key && isSame(last, members));
  const line =
    known === undefined ? newLine(key, row, step.kept.length) : moved({ ...known.line, row }, step);
  for (const index of known === undefined ? step.kept.keys() : step.added) {
    const texts = members.flatMap(({ exact }) => exact[index] ?? []);
    if (texts.length > 0) put(line, index, exactSum(texts));
  }
  return { members, line: { ...line, total: exactSum(members.map(({ total }) => total)) } };
}

function isSame(a: readonly Line[], b: readonly Line[]): boolean {
  return a.length === b.length && a.every(({ key }, index) => key === b[index]?.key);
}
