import type { AuditEntry } from '@tollgate/contract';
import { dateTime } from '../../format.js';
import { Button } from '../../ui/button.js';
import { FailureNote, Skeleton } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { useAuditLog } from './api.js';

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: 'When (UTC)', cell: ({ created_at }) => dateTime(created_at, 'UTC') },
  { title: 'Who', cell: ({ actor }) => <code className="font-mono text-xs">{actor}</code> },
  { title: 'What', cell: ({ action }) => action },
  { title: 'Of', cell: ({ resource_id }) => <code className="font-mono text-xs">{resource_id}</code> },
  {
    title: 'Change',
    cell: ({ change }) => {
      const text = change === null ? '' : JSON.stringify(change);
      return (
        <code title={text} className="font-mono text-xs text-ink-soft">
          {text}
        </code>
      );
    },
  },
];

export function AuditPage() {
  const log = useAuditLog();
  if (log.isError) return <FailureNote error={log.error} onRetry={() => void log.refetch()} />;
  if (log.data === undefined) return <Skeleton className="h-96" />;
  const entries = log.data.pages.flatMap((page) => page.entries);
  return (
    <div className="flex flex-col gap-4">
      <Table label="Audit log" columns={COLUMNS} rows={entries} keyOf={({ id }) => id} />
      {log.hasNextPage && (
        <Button
          className="self-center"
          isBusy={log.isFetchingNextPage}
          onClick={() => void log.fetchNextPage()}
        >
          Show older
        </Button>
      )}
    </div>
  );
}
