import type { BacktestPage } from '@tollgate/contract';
import { count, dateTime } from '../../../format.js';
import { Badge } from '../../../ui/badge.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../../ui/table.js';
import { useBacktests } from './api.js';

type Listed = BacktestPage['backtests'][number];
type Status = Listed['status'];

const TONES: Readonly<Record<Status, 'accent' | 'good' | 'bad' | 'neutral'>> = {
  running: 'accent',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'neutral',
};

export function BacktestBadge({ status }: { readonly status: Status }) {
  return <Badge tone={TONES[status]}>{status}</Badge>;
}

/** All backtests of the project, of any rules and user. */
export function BacktestList({
  shownId,
  onShow,
}: {
  readonly shownId: string | undefined;
  readonly onShow: (id: string) => void;
}) {
  const backtests = useBacktests();
  const columns: readonly Column<Listed>[] = [
    {
      title: 'Started (UTC)',
      cell: ({ id, created_at }) => (
        <button
          type="button"
          aria-pressed={id === shownId}
          className={`${ROW_TARGET} whitespace-nowrap`}
          onClick={() => onShow(id)}
        >
          {dateTime(created_at, 'UTC')}
        </button>
      ),
    },
    { title: 'Status', cell: ({ status }) => <BacktestBadge status={status} /> },
    { title: 'Events', isNumber: true, cell: ({ progress }) => count(progress.events_done) },
    {
      title: 'Duration',
      isNumber: true,
      cell: ({ created_at, finished_at }) =>
        finished_at === null ? '—' : `${count(Math.max(0, finished_at - created_at))} s`,
    },
  ];
  return (
    <section aria-label="Backtests of this project">
      <h3 className="mb-2 text-[13px] font-semibold">Backtests of this project</h3>
      {backtests.isError && <ReadFailure of={backtests} />}
      {backtests.isPending && <Skeleton className="h-24" />}
      {backtests.data?.length === 0 && (
        <p className="text-[13px] text-ink-soft">
          No backtests in the last week. A backtest shows the effect of a change before you publish it.
        </p>
      )}
      {backtests.data !== undefined && backtests.data.length > 0 && (
        <Table label="Backtests" columns={columns} rows={backtests.data} keyOf={({ id }) => id} />
      )}
    </section>
  );
}
