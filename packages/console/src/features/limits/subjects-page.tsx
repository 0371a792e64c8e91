import type { SubjectRoute } from '@tollgate/contract';
import { Gauge as GaugeIcon, Search } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { TextInput } from '../../ui/field.js';
import { EmptyState, FailureNote, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { type Subject, useRoutes, useSubjectLimits } from './api.js';
import { Gauge } from './gauge.js';

/** Where one subject stands, and which subjects have routes. */
export function SubjectsPage() {
  const [parameters] = useSearchParams();
  const type = parameters.get('type') ?? '';
  const id = parameters.get('id') ?? '';
  return (
    <div className="flex flex-col gap-6 px-4 pb-10 sm:px-6">
      <SubjectSearch key={`${type}/${id}`} initial={{ type, id }} />
      {type !== '' && id !== '' ? <SubjectLimits subject={{ type, id }} /> : <Routes />}
    </div>
  );
}

function SubjectSearch({ initial }: { readonly initial: Subject }) {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  const [type, setType] = useState(initial.type);
  const [id, setId] = useState(initial.id);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    navigate(subjectHref(projectId, { type: type.trim(), id: id.trim() }));
  };
  return (
    <search>
      <form onSubmit={submit} className="flex flex-wrap gap-2">
        <TextInput
          aria-label="Subject type"
          placeholder="Type, e.g. customer"
          required
          className="w-44"
          value={type}
          onChange={(event) => setType(event.target.value)}
        />
        <TextInput
          aria-label="Subject id"
          placeholder="Id"
          required
          className="w-60"
          value={id}
          onChange={(event) => setId(event.target.value)}
        />
        <Button type="submit">
          <Search size={14} />
          Show limits
        </Button>
      </form>
    </search>
  );
}

function SubjectLimits({ subject }: { readonly subject: Subject }) {
  const snapshot = useSubjectLimits(subject);
  if (snapshot.isError) return <FailureNote error={snapshot.error} onRetry={() => void snapshot.refetch()} />;
  if (snapshot.data === undefined) return <Skeleton className="h-40" />;
  const { limits, rule_account_id } = snapshot.data;
  if (limits.length === 0) {
    return (
      <EmptyState icon={<GaugeIcon size={20} />} title="No limits">
        {rule_account_id === null
          ? 'This subject has no route, so nothing is charged or limited.'
          : 'Its route has no plan and no limits of its own.'}
      </EmptyState>
    );
  }
  return (
    <ul aria-label="Limits" className="grid gap-3 md:grid-cols-2 2xl:grid-cols-3">
      {limits.map((limit) => (
        <Gauge key={`${limit.id} ${limit.window_id}`} limit={limit} />
      ))}
    </ul>
  );
}

function Routes() {
  const { id: projectId } = useProject();
  const routes = useRoutes();
  if (routes.isError) return <FailureNote error={routes.error} onRetry={() => void routes.refetch()} />;
  if (routes.data === undefined) return <Skeleton className="h-64" />;
  const { subject_routes: rows } = routes.data;
  if (rows.length === 0) {
    return (
      <EmptyState icon={<GaugeIcon size={20} />} title="No routes yet">
        A route says which account pays for a subject, and which limits it has.
      </EmptyState>
    );
  }
  const columns: readonly Column<SubjectRoute>[] = [
    {
      title: 'Subject',
      cell: ({ subject_type: type, subject_id: id }) =>
        id === '*' ? (
          `every ${type}`
        ) : (
          <Link href={subjectHref(projectId, { type, id })} className={ROW_TARGET}>
            {type}/{id}
          </Link>
        ),
    },
    {
      title: 'Account',
      cell: ({ account_id }) => (
        <Link
          href={`/p/${projectId}/money/${account_id}`}
          className="relative z-10 font-mono text-xs hover:underline"
        >
          {account_id}
        </Link>
      ),
    },
    { title: 'Plan', cell: ({ usage_limit_plan_id }) => usage_limit_plan_id ?? '—' },
    { title: 'Timezone', cell: ({ timezone }) => timezone },
  ];
  return <Table label="Routes" columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

function subjectHref(projectId: string, { type, id }: Subject): string {
  return `/p/${projectId}/limits?${new URLSearchParams({ type, id })}`;
}
