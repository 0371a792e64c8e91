import type { BacktestPage } from '@tollgate/contract';
import { count, dateTime } from '../format.js';
import { Badge } from './badge.js';
import { Button } from './button.js';
import { EventProgress } from './progress-bar.js';
import { type Column, ROW_TARGET, Table } from './table.js';

/** A backtest of any kind, as lists show it. */
type ListedBacktest = BacktestPage['backtests'][number];
type Status = ListedBacktest['status'];

const TONES: Readonly<Record<Status, 'accent' | 'good' | 'bad' | 'neutral'>> = {
  running: 'accent',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'neutral',
};

export function BacktestBadge({ status }: { readonly status: Status }) {
  return <Badge tone={TONES[status]}>{status}</Badge>;
}

/** How many events of a running backtest are done, and a button that cancels it. */
export function BacktestProgress({
  label,
  progress,
  isCancelling,
  onCancel,
}: {
  readonly label: string;
  readonly progress: ListedBacktest['progress'];
  readonly isCancelling: boolean;
  readonly onCancel: () => void;
}) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <EventProgress label={label} progress={progress} />
      <Button isBusy={isCancelling} onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}

/** A list of backtests, from which one is chosen. */
export function BacktestTable<Row extends ListedBacktest>({
  backtests,
  columns = [],
  shownId,
  onShow,
}: {
  readonly backtests: readonly Row[];
  /** Columns of one kind of backtest, after the time at which it was started. */
  readonly columns?: readonly Column<Row>[];
  readonly shownId: string | undefined;
  readonly onShow: (id: string) => void;
}) {
  const all: readonly Column<Row>[] = [
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
    ...columns,
    { title: 'Status', cell: ({ status }) => <BacktestBadge status={status} /> },
    { title: 'Events', isNumber: true, cell: ({ progress }) => count(progress.events_done) },
    {
      title: 'Duration',
      isNumber: true,
      cell: ({ created_at, finished_at }) =>
        finished_at === null ? '—' : `${count(Math.max(0, finished_at - created_at))} s`,
    },
  ];
  return <Table label="Backtests" columns={all} rows={backtests} keyOf={({ id }) => id} />;
}
