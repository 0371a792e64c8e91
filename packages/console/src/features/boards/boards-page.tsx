import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button } from '../../ui/button.js';
import { ReadFailure, Skeleton } from '../../ui/states.js';
import { useBoards } from './api.js';
import { BoardDialog } from './board-dialog.js';

/** Loaded on first use, because it is rarely shown and includes much code of the rules. */
const FirstMinute = lazy(async () => ({
  default: (await import('../first-minute/first-minute.js')).FirstMinute,
}));

export function BoardsPage() {
  const { id } = useProject();
  const boards = useBoards();
  const [isCreating, setCreating] = useState(false);
  const [, navigate] = useLocation();
  const mayCreate = useMay('analytics:write');
  const isEmpty = boards.data?.length === 0;
  const create = (
    <Button look={isEmpty ? 'plain' : 'primary'} onClick={() => setCreating(true)}>
      <Plus size={15} />
      New board
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Boards"
        actions={
          <>
            {boards.data !== undefined && !isEmpty && (
              <Link href={`/p/${id}/start`} className="px-2 text-[13px] text-ink-soft hover:text-ink">
                First steps
              </Link>
            )}
            {mayCreate && create}
          </>
        }
      />
      <div className="px-4 pb-10 sm:px-6">
        {boards.isError && <ReadFailure of={boards} />}
        {boards.isPending && <Skeleton className="h-24" />}
        {isEmpty && (
          <Suspense fallback={<Skeleton className="h-96" />}>
            <FirstMinute />
          </Suspense>
        )}
        <ul className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-3 2xl:grid-cols-4">
          {boards.data?.map(({ board, charts }) => (
            <li key={board.report_id}>
              <Link
                href={`/p/${id}/boards/${board.report_id}`}
                className="block h-full rounded-xl border border-line bg-panel p-4 shadow-xs transition-colors hover:border-line-strong"
              >
                <span className="font-semibold">{board.name}</span>
                <span className="mt-1 line-clamp-2 block text-[13px] text-ink-soft">
                  {board.description ?? 'No description'}
                </span>
                <span className="mt-3 block text-xs text-ink-faint">
                  {charts.length === 1 ? '1 chart' : `${charts.length} charts`} · {board.timezone}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </div>
      <BoardDialog
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onSaved={(board) => navigate(`/p/${id}/boards/${board.report_id}`)}
      />
    </>
  );
}
