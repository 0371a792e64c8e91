import type { Board, Chart } from '@tollgate/contract';
import { useLocation } from 'wouter';
import { useProject } from '../../project.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { useBoardChanges } from './api.js';
import { BoardDialog } from './board-dialog.js';
import { ChartEditor } from './chart-editor.js';
import type { ChartAction } from './chart-menu.js';
import type { TimeRange } from './time-range.js';

/** The action on the board or one of its charts that a dialog is open for. */
export type BoardAction =
  | { readonly what: 'edit-board' | 'delete-board' | 'new-chart' }
  | { readonly what: ChartAction; readonly chart: Chart };

/** The dialogs that change a board or its charts. */
export function BoardDialogs({
  board,
  action,
  range,
  onDone,
}: {
  readonly board: Board;
  readonly action: BoardAction;
  readonly range: TimeRange;
  readonly onDone: () => void;
}) {
  const changes = useBoardChanges();
  const { id } = useProject();
  const [, navigate] = useLocation();
  switch (action.what) {
    case 'edit-board':
      return <BoardDialog board={board} isOpen onClose={onDone} />;
    case 'delete-board':
      return (
        <ConfirmDialog
          title={
            <>
              Delete “<bdi>{board.name}</bdi>”?
            </>
          }
          action="Delete board"
          change={changes.remove}
          isOpen
          onClose={onDone}
          onConfirm={() =>
            changes.remove.mutate(board.report_id, { onSuccess: () => navigate(`/p/${id}/boards`) })
          }
        >
          The board and its charts are deleted permanently. Usage data is kept.
        </ConfirmDialog>
      );
    case 'delete-chart':
      return (
        <ConfirmDialog
          title={
            <>
              Delete “<bdi>{action.chart.title}</bdi>”?
            </>
          }
          action="Delete chart"
          change={changes.removeChart}
          isOpen
          onClose={onDone}
          onConfirm={() => changes.removeChart.mutate(action.chart.chart_id, { onSuccess: onDone })}
        >
          Usage data is kept.
        </ConfirmDialog>
      );
    case 'new-chart':
      return <ChartEditor board={board} range={range} onClose={onDone} />;
    case 'edit-chart':
      return <ChartEditor board={board} chart={action.chart} range={range} onClose={onDone} />;
    case 'duplicate-chart':
      return <ChartEditor board={board} chart={action.chart} isCopy range={range} onClose={onDone} />;
  }
}
