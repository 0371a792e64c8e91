import type { BoardWithCharts, Chart } from '@tollgate/contract';
import { ChartColumn, Ellipsis, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { Button, IconButton } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Menu } from '../../ui/menu.js';
import { EmptyState, FailureNote, Skeleton } from '../../ui/states.js';
import { useBoardChanges, useBoards } from './api.js';
import { BoardDialog } from './board-dialog.js';
import { ChartEditor } from './chart-editor.js';
import { ChartGrid } from './chart-grid.js';
import { RangePicker } from './range-picker.js';
import type { TimeRange } from './time-range.js';

export function BoardPage({ boardId }: { readonly boardId: string }) {
  const boards = useBoards();
  if (boards.isError) {
    return (
      <div className="p-6">
        <FailureNote error={boards.error} onRetry={() => void boards.refetch()} />
      </div>
    );
  }
  if (boards.data === undefined) return <Skeleton className="m-6 h-96" />;
  const found = boards.data.find(({ board }) => board.report_id === boardId);
  if (found === undefined)
    return <EmptyState title="There is no such board">It may have been deleted.</EmptyState>;
  return <OpenBoard {...found} />;
}

/** What is being done on the board beside looking. */
type Doing =
  | { readonly what: 'edit-board' | 'delete-board' | 'new-chart' }
  | { readonly what: 'edit-chart' | 'delete-chart'; readonly chart: Chart };

function OpenBoard({ board, charts }: BoardWithCharts) {
  const [range, setRange] = useState<TimeRange>({ last_seconds: board.default_time_range_seconds });
  const [doing, setDoing] = useState<Doing>();
  const { id } = useProject();
  const newChart = (
    <Button look="primary" onClick={() => setDoing({ what: 'new-chart' })}>
      <Plus size={15} />
      Add chart
    </Button>
  );
  return (
    <>
      <PageHeader
        title={
          <>
            <Link href={`/p/${id}/boards`} className="font-normal text-ink-faint hover:text-ink">
              Boards /
            </Link>{' '}
            {board.name}
          </>
        }
        actions={
          <>
            <span className="text-xs text-ink-faint">{board.timezone}</span>
            <RangePicker range={range} onChange={setRange} />
            {newChart}
            <BoardMenu onDo={setDoing} />
          </>
        }
      />
      {charts.length === 0 ? (
        <EmptyState icon={<ChartColumn size={20} />} title="No charts yet" action={newChart}>
          Choose a metric, and see it as it happens.
        </EmptyState>
      ) : (
        <ChartGrid board={board} charts={charts} range={range} onDo={setDoing} />
      )}
      <Dialogs board={board} doing={doing} onDone={() => setDoing(undefined)} range={range} />
    </>
  );
}

function BoardMenu({ onDo }: { readonly onDo: (doing: Doing) => void }) {
  return (
    <Menu
      trigger={
        <IconButton label="More about this board">
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

function Dialogs({
  board,
  doing,
  range,
  onDone,
}: Pick<BoardWithCharts, 'board'> & {
  readonly doing: Doing | undefined;
  readonly range: TimeRange;
  readonly onDone: () => void;
}) {
  const changes = useBoardChanges();
  const { id } = useProject();
  const [, navigate] = useLocation();
  const chart = doing !== undefined && 'chart' in doing ? doing.chart : undefined;
  return (
    <>
      <BoardDialog board={board} isOpen={doing?.what === 'edit-board'} onClose={onDone} />
      <ConfirmDialog
        title={`Delete “${board.name}”?`}
        action="Delete board"
        change={changes.remove}
        isOpen={doing?.what === 'delete-board'}
        onClose={onDone}
        onConfirm={() =>
          changes.remove.mutate(board.report_id, { onSuccess: () => navigate(`/p/${id}/boards`) })
        }
      >
        The board and its charts are gone for good. Usage stays as it is.
      </ConfirmDialog>
      <ConfirmDialog
        title={`Delete “${chart?.title}”?`}
        action="Delete chart"
        change={changes.removeChart}
        isOpen={doing?.what === 'delete-chart'}
        onClose={onDone}
        onConfirm={() => changes.removeChart.mutate(chart?.chart_id ?? '', { onSuccess: onDone })}
      >
        Usage stays as it is.
      </ConfirmDialog>
      <ChartEditor
        board={board}
        {...(doing?.what === 'edit-chart' && chart !== undefined ? { chart } : {})}
        range={range}
        isOpen={doing?.what === 'new-chart' || doing?.what === 'edit-chart'}
        onClose={onDone}
      />
    </>
  );
}
