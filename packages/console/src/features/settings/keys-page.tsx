import type { ApiKey, Project } from '@tollgate/contract';
import { KeyRound, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useProjects } from '../../api/projects.js';
import { useMe } from '../../api/session.js';
import { nowS } from '../../clock.js';
import { dateTime } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { IconButton } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { useApiKeyChanges, useApiKeys } from './api.js';

export function KeysPage() {
  const keys = useApiKeys();
  const { data: projects = [] } = useProjects();
  const { revoke } = useApiKeyChanges();
  const { key_id: ownId } = useMe();
  const [revoking, setRevoking] = useState<ApiKey>();
  const columns = columnsOf({ projects, ownId, onRevoke: setRevoking });
  return (
    <>
      {keys.isError && <ReadFailure of={keys} />}
      {keys.isPending && <Skeleton className="h-64" />}
      {keys.data?.length === 0 && (
        <EmptyState icon={<KeyRound size={20} />} title="No API keys">
          API keys let your programs send and read usage.
        </EmptyState>
      )}
      {keys.data !== undefined && keys.data.length > 0 && (
        <Table label="API keys" columns={columns} rows={keys.data} keyOf={({ id }) => id} />
      )}
      <ConfirmDialog
        title={
          <>
            Revoke “<bdi>{revoking?.name}</bdi>”?
          </>
        }
        action="Revoke key"
        change={revoke}
        isOpen={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        onConfirm={() => revoking && revoke.mutate(revoking, { onSuccess: () => setRevoking(undefined) })}
      >
        Requests with this key are refused within a second.
        {revoking?.id === ownId ? ' You are signed in with this key and will be signed out.' : ''} This cannot
        be undone.
      </ConfirmDialog>
    </>
  );
}

function columnsOf({
  projects,
  ownId,
  onRevoke,
}: {
  readonly projects: readonly Project[];
  readonly ownId: string | null;
  readonly onRevoke: (key: ApiKey) => void;
}): readonly Column<ApiKey>[] {
  return [
    {
      title: 'Key',
      cell: ({ id, name }) => (
        <span className="font-medium">
          <bdi>{name}</bdi> {id === ownId && <Badge tone="accent">your key</Badge>}
        </span>
      ),
    },
    {
      title: 'ID',
      isForWideScreens: true,
      cell: ({ id }) => <code className="font-mono text-xs text-ink-soft">{id}</code>,
    },
    {
      title: 'Scope',
      cell: ({ project_id }) =>
        project_id === null
          ? 'All projects'
          : (projects.find(({ id }) => id === project_id)?.name ?? project_id),
    },
    {
      title: 'Permissions',
      cell: ({ permissions }) => (
        <span title={permissions.join(', ')} className="flex gap-1 overflow-hidden">
          {permissions.map((permission) => (
            <Badge key={permission}>{permission}</Badge>
          ))}
        </span>
      ),
    },
    { title: 'Created (UTC)', cell: ({ created_at }) => dateTime(created_at, 'UTC') },
    { title: 'Expires (UTC)', cell: (key) => <Expiry apiKey={key} /> },
    {
      title: 'Revoke',
      isTitleHidden: true,
      isNumber: true,
      cell: (key) => (
        <IconButton label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
          <Trash2 size={14} />
        </IconButton>
      ),
    },
  ];
}

function Expiry({ apiKey: { expires_at: at } }: { readonly apiKey: ApiKey }) {
  if (at === null) return <>Never</>;
  if (at <= nowS()) return <Badge tone="bad">expired</Badge>;
  return <>{dateTime(at, 'UTC')}</>;
}
