import type { BoardWithCharts } from '@tollgate/contract';
import { ChartColumn } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { FailureNote, ReadFailure } from '../../ui/states.js';
import { useCreateFirstBoard, useFirstMetrics } from './api.js';
import { FirstStep } from './step.js';

/** The step that creates a board with charts of received usage. */
export function FirstChartStep({
  hasUsage,
  boards,
}: {
  readonly hasUsage: boolean;
  readonly boards: readonly BoardWithCharts[];
}) {
  const { id } = useProject();
  const title = 'See your first chart';
  const [first] = boards;
  if (first !== undefined && hasUsage) {
    return (
      <FirstStep
        number={3}
        title={title}
        state="done"
        isLast
        summary={
          <Link
            href={`/p/${id}/boards/${first.board.report_id}`}
            className="font-medium text-accent hover:underline"
          >
            {first.board.name}
          </Link>
        }
      />
    );
  }
  if (!hasUsage) {
    return (
      <FirstStep
        number={3}
        title={title}
        state="waiting"
        isLast
        summary="A board with charts of your usage."
      />
    );
  }
  return (
    <FirstStep
      number={3}
      title={title}
      state="open"
      isLast
      summary="A board with charts of your usage and what it is charged, with breakdowns."
    >
      <CreateBoard />
    </FirstStep>
  );
}

function CreateBoard() {
  const { id } = useProject();
  const [, navigate] = useLocation();
  const maySee = useMay('analytics:read');
  const mayWrite = useMay('analytics:write');
  const metrics = useFirstMetrics(maySee);
  const create = useCreateFirstBoard();
  if (!maySee || !mayWrite) {
    return (
      <p className="text-[13px] text-ink-soft">
        To create a board, sign in with a key that has the permission analytics:write.
      </p>
    );
  }
  const isReady = (metrics.data?.length ?? 0) > 0;
  const submit = () =>
    create.mutate(undefined, { onSuccess: ({ report_id }) => navigate(`/p/${id}/boards/${report_id}`) });
  return (
    <div className="flex flex-col items-start gap-3">
      <Button look="primary" isBusy={create.isPending} disabled={!isReady} onClick={submit}>
        <ChartColumn size={15} />
        Create board
      </Button>
      {!isReady && <p className="text-[13px] text-ink-soft">The first numbers will be there in a moment.</p>}
      {metrics.isError && <ReadFailure of={metrics} />}
      {create.isError && <FailureNote error={create.error} />}
    </div>
  );
}
