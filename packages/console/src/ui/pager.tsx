import { ChevronLeft, ChevronRight } from 'lucide-react';
import { count } from '../format.js';
import { IconButton } from './button.js';

export interface PageOfList {
  readonly offset: number;
  readonly limit: number;
  readonly total_count: number;
}

/** Position in a long list and buttons for other pages. Renders nothing if all entries fit on one page. */
export function Pager({
  page: { offset, limit, total_count },
  onOffset,
}: {
  readonly page: PageOfList;
  readonly onOffset: (offset: number) => void;
}) {
  if (offset === 0 && total_count <= limit) return null;
  const last = Math.min(offset + limit, total_count);
  return (
    <nav aria-label="Pages" className="tabular flex items-center justify-end gap-1 text-xs text-ink-soft">
      <span className="mr-2">
        {count(Math.min(offset + 1, last))}–{count(last)} of {count(total_count)}
      </span>
      <IconButton
        label="Previous page"
        disabled={offset === 0}
        onClick={() => onOffset(Math.max(offset - limit, 0))}
      >
        <ChevronLeft size={16} />
      </IconButton>
      <IconButton label="Next page" disabled={last >= total_count} onClick={() => onOffset(offset + limit)}>
        <ChevronRight size={16} />
      </IconButton>
    </nav>
  );
}
