/** A line of a comparison: in both texts, or in only one of them. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Upper bound of compared pairs of lines. Larger texts are shown as one removed and one added block. */
const CELLS_MAX = 4_000_000;

/**
 * Compares two JSON texts line by line, with a longest common subsequence, so that as few lines as possible are
 * marked as changed. A comma at the end of a line is not a difference. Removed lines come before the lines that
 * replace them; unchanged lines are those of `after`.
 */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
  const start = commonLength(old, now, (lines, index) => lines[index]);
  const restOld = old.slice(start);
  const restNow = now.slice(start);
  const end = commonLength(restOld, restNow, (lines, index) => lines[lines.length - 1 - index]);
  return [
    ...now.slice(0, start).map(same),
    ...diffMiddle(restOld.slice(0, restOld.length - end), restNow.slice(0, restNow.length - end)),
    ...now.slice(now.length - end).map(same),
  ];
}

const same = (text: string): DiffLine => ({ kind: 'same', text });

function isSame(a: string | undefined, b: string | undefined): boolean {
  return a === b || withoutComma(a) === withoutComma(b);
}

function withoutComma(line = ''): string {
  return line.endsWith(',') ? line.slice(0, -1) : line;
}

function commonLength(
  a: readonly string[],
  b: readonly string[],
  at: (lines: readonly string[], index: number) => string | undefined,
): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && isSame(at(a, length), at(b, length))) length += 1;
  return length;
}

function diffMiddle(old: readonly string[], now: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (old.length * now.length > CELLS_MAX) return [...old.map(removed), ...now.map(added)];
  const lengths = commonLengths(old, now);
  const width = now.length + 1;
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < now.length) {
    if (isSame(old[i], now[j])) {
      lines.push(same(now[j] ?? ''));
      i += 1;
      j += 1;
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) {
      lines.push(removed(old[i] ?? ''));
      i += 1;
    } else {
      lines.push(added(now[j] ?? ''));
      j += 1;
    }
  }
  return [...lines, ...old.slice(i).map(removed), ...now.slice(j).map(added)];
}

/** For each pair of positions, the length of the longest common subsequence of the remaining lines. */
function commonLengths(old: readonly string[], now: readonly string[]): Uint32Array {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const oldTexts = old.map(withoutComma);
  const nowTexts = now.map(withoutComma);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        oldTexts[i] === nowTexts[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
    }
  }
  return lengths;
}

/** A shown line, or the number of unchanged lines that are folded. */
export type DiffPart = DiffLine | { readonly kind: 'folded'; readonly count: number };

/** Folds unchanged lines that are more than `context` lines away from any difference. */
export function foldSame(lines: readonly DiffLine[], context: number): DiffPart[] {
  const isNear = lines.map(() => false);
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    isNear.fill(true, Math.max(0, index - context), index + context + 1);
  }
  const parts: DiffPart[] = [];
  for (const [index, line] of lines.entries()) {
    const last = parts.at(-1);
    if (isNear[index] === true) parts.push(line);
    else if (last?.kind === 'folded') parts[parts.length - 1] = { kind: 'folded', count: last.count + 1 };
    else parts.push({ kind: 'folded', count: 1 });
  }
  return parts;
}
