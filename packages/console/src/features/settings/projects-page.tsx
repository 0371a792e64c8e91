import { type Project, UNLIMITED } from '@tollgate/contract';
import { Link } from 'wouter';
import { useProjects } from '../../api/projects.js';
import { count, dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { Badge } from '../../ui/badge.js';
import { CopyButton } from '../../ui/copy-button.js';
import { ReadFailure, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { useEntitlement } from './api.js';

/** The projects of the tenant; each has events, rules, limits and charts of its own. */
export function ProjectsPage() {
  const { tenant_id } = useProject();
  const projects = useProjects();
  const entitlement = useEntitlement();
  const rows = projects.data?.filter((project) => project.tenant_id === tenant_id) ?? [];
  return (
    <div className="flex flex-col gap-4">
      <div className="min-h-5">
        {entitlement.data !== undefined && (
          <p className="tabular text-[13px] text-ink-soft">
            {leftText(
              'development',
              entitlement.data.usage.development_projects,
              entitlement.data.max_development_projects,
            )}
            {' · '}
            {leftText(
              'release',
              entitlement.data.usage.release_projects,
              entitlement.data.max_release_projects,
            )}
          </p>
        )}
      </div>
      {projects.isError && <ReadFailure of={projects} />}
      {projects.isPending && <Skeleton className="h-40" />}
      {rows.length > 0 && <Table label="Projects" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />}
    </div>
  );
}

function leftText(kind: string, used: number, limit: number): string {
  return limit === UNLIMITED ? `${count(used)} ${kind}` : `${count(used)} of ${count(limit)} ${kind}`;
}

const COLUMNS: readonly Column<Project>[] = [
  {
    title: 'Project',
    cell: ({ id, name }) => (
      <Link href={`/p/${id}/boards`} title={name} className={ROW_TARGET}>
        {name}
      </Link>
    ),
  },
  {
    title: 'Kind',
    cell: ({ kind }) => <Badge tone={kind === 'release' ? 'accent' : 'neutral'}>{kind}</Badge>,
  },
  { title: 'Storage', cell: ({ storage }) => (storage === 'dedicated' ? 'dedicated' : 'shared') },
  { title: 'Created (UTC)', cell: ({ created_at }) => dateTime(created_at, 'UTC') },
  {
    title: 'ID',
    cell: ({ id }) => (
      <span className="relative z-1 inline-flex items-center gap-2">
        <code className="font-mono text-xs text-ink-soft">{id}</code>
        <CopyButton size="small" look="quiet" text={id} />
      </span>
    ),
  },
];
