import { Minus, TrendingDown, TrendingUp } from 'lucide-react';
import { decimalExact } from '../../format.js';
import { changeSince, percentText } from './totals.js';

const ICONS = new Map([
  [-1, { Icon: TrendingDown, word: 'less' }],
  [1, { Icon: TrendingUp, word: 'more' }],
]);

/** How a value differs from that of the period before. More is not always better, so it has no colour. */
export function ChangeNote({
  now,
  before,
}: {
  readonly now: string | undefined;
  readonly before: string | undefined;
}) {
  const change = changeSince(now, before);
  if (change === undefined) return null;
  const { Icon, word } = ICONS.get(change.direction) ?? { Icon: Minus, word: 'no change' };
  const title = `${decimalExact(before ?? '0')} in the period before`;
  return (
    <span className="tabular inline-flex items-baseline gap-1 text-xs text-ink-soft" title={title}>
      <Icon size={13} aria-hidden="true" className="self-center" />
      <span>{percentText(change)}</span>
      <span className="sr-only">
        {word}: {title}
      </span>
    </span>
  );
}
