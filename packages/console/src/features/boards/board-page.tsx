import type { Board, BoardWithCharts } from '@tollgate/contract';
import { ChartColumn, Ellipsis, Pencil, Plus, Trash2 } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useMay } from '../../api/session.js';
import { nowS } from '../../clock.js';
import { useProject } from '../../project.js';
import { FailedPage, MissingPage } from '../../shell/failed-page.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button, IconButton } from '../../ui/button.js';
import { DialogLoading } from '../../ui/dialog-loading.js';
import { Menu } from '../../ui/menu.js';
import { EmptyState, Skeleton } from '../../ui/states.js';
import { useNowS } from '../../use-now.js';
import { UnpricedBanner } from '../usage/unpriced-banner.js';
import { useBoards } from './api.js';
import type { BoardAction } from './board-dialogs.js';
import { BoardFilterBar } from './board-filter-bar.js';
import { type BoardFilters, boardFiltersAddress, boardFiltersOf, filteredChart } from './board-filters.js';
import { useBoardStream } from './board-stream.js';
import { ChartGrid } from './chart-grid.js';
import { LiveMark } from './live-mark.js';
import { RangePicker } from './range-picker.js';
import { addressOf, type RangeChoice, rangeAt, rangeBounds, rangeOf, type TimeRange } from './time-range.js';
import { UpdateBuffer } from './update-buffer.js';

/** Loaded on first use, because viewing a board does not need it. */
const BoardDialogs = lazy(async () => ({ default: (await import('./board-dialogs.js')).BoardDialogs }));

export function BoardPage({ boardId }: { readonly boardId: string }) {
  const { id } = useProject();
  const boards = useBoards();
  const above = { label: 'Boards', href: `/p/${id}/boards` };
  if (boards.isError) return <FailedPage above={above} of={boards} />;
  if (boards.data === undefined) return <Skeleton className="m-6 h-96" />;
  const found = boards.data.find(({ board }) => board.report_id === boardId);
  if (found === undefined) return <MissingPage above={above}>The board may have been deleted.</MissingPage>;
  return <OpenBoard {...found} />;
}

function OpenBoard({ board, charts }: BoardWithCharts) {
  const { choice, range, setChoice, filters, setFilters } = useAddress(board);
  const [action, setAction] = useState<BoardAction>();
  const [updates] = useState(() => new UpdateBuffer());
  const mayChange = useMay('analytics:write');
  const shown = useMemo(() => charts.map((chart) => filteredChart(chart, filters)), [charts, filters]);
  const queried = useMemo(
    () => shown.filter(({ conflict }) => conflict === undefined).map(({ chart }) => chart),
    [shown],
  );
  const stream = useBoardStream(queried, board.timezone, range, updates);
  const usage = useMemo(() => rangeBounds(range, nowS()), [range]);
  const { id } = useProject();
  const newChart = mayChange && (
    <Button look="primary" onClick={() => setAction({ what: 'new-chart' })}>
      <Plus size={15} />
      Add chart
    </Button>
  );
  return (
    <>
      <PageHeader
        above={{ label: 'Boards', href: `/p/${id}/boards` }}
        title={board.name}
        actions={
          <>
            {charts.length > 0 && <LiveMark liveStatus={stream.liveStatus} />}
            <RangePicker range={choice} timezone={board.timezone} onChange={setChoice} />
            {newChart}
            {mayChange && <BoardMenu onDo={setAction} />}
          </>
        }
      />
      <div className="px-4 pb-3 empty:hidden sm:px-6">
        <UnpricedBanner eventQuery={usage} />
      </div>
      {charts.length > 0 && <BoardFilterBar filters={filters} onChange={setFilters} />}
      {charts.length === 0 ? (
        <EmptyState icon={<ChartColumn size={20} />} title="No charts yet" action={newChart}>
          {mayChange
            ? 'Add a chart to see usage as it happens.'
            : 'To add charts, sign in with a key that has the permission analytics:write.'}
        </EmptyState>
      ) : (
        <ChartGrid
          {...{ board, range, stream, updates }}
          charts={shown}
          onRange={setChoice}
          onDo={mayChange ? (what, chart) => setAction({ what, chart }) : undefined}
        />
      )}
      {action !== undefined && (
        <Suspense fallback={<DialogLoading />}>
          <BoardDialogs board={board} action={action} onDone={() => setAction(undefined)} range={range} />
        </Suspense>
      )}
    </>
  );
}

/** Interval at which the current month is computed again, because a new one may have begun. */
const MONTH_CHECK_MS = 60_000;

/** The range and the filters. They are part of the address, so that the back button and shared links work. */
function useAddress(board: Board): {
  readonly choice: RangeChoice;
  readonly range: TimeRange;
  readonly setChoice: (choice: RangeChoice) => void;
  readonly filters: BoardFilters;
  readonly setFilters: (filters: BoardFilters) => void;
} {
  const [address, setAddress] = useSearchParams();
  const choice = rangeOf(address) ?? { last_seconds: board.default_time_range_seconds };
  const atS = useNowS(MONTH_CHECK_MS);
  const meant = JSON.stringify(rangeAt(choice, atS, board.timezone));
  // The same range must be the same object, because charts are queried again for a new one.
  const range = useMemo(() => JSON.parse(meant) as TimeRange, [meant]);
  const filtersText = JSON.stringify(boardFiltersOf(address));
  const filters = useMemo(() => JSON.parse(filtersText) as BoardFilters, [filtersText]);
  const given = rangeOf(address);
  return {
    choice,
    range,
    setChoice: (chosen) => setAddress({ ...addressOf(chosen), ...boardFiltersAddress(filters) }),
    filters,
    setFilters: (changed) =>
      setAddress({ ...(given === undefined ? {} : addressOf(given)), ...boardFiltersAddress(changed) }),
  };
}

function BoardMenu({ onDo }: { readonly onDo: (action: BoardAction) => void }) {
  return (
    <Menu
      trigger={
        <IconButton label="Actions for this board">
          <Ellipsis size={16} />
        </IconButton>
      }
      items={[
        { label: 'Edit board', icon: <Pencil size={14} />, onSelect: () => onDo({ what: 'edit-board' }) },
        {
          label: 'Delete board',
          icon: <Trash2 size={14} />,
          isDangerous: true,
          onSelect: () => onDo({ what: 'delete-board' }),
        },
      ]}
    />
  );
}
