import type { UsageLimitPlanVersion } from '@tollgate/contract';
import { Layers } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMay } from '../../../api/session.js';
import { dateTime } from '../../../format.js';
import { useProject } from '../../../project.js';
import { Select, TextInput } from '../../../ui/field.js';
import { Pager } from '../../../ui/pager.js';
import { EmptyState, ReadFailure, Skeleton } from '../../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../../ui/table.js';
import { useSettled } from '../../../ui/use-settled.js';
import { type PlanFilter, type PlanQuery, usePlans } from './api.js';
import { PlanBadge } from './plan-badge.js';

const FILTERS = [
  { value: 'active', label: 'Active' },
  { value: 'published', label: 'Published' },
  { value: 'archived', label: 'Archived' },
] as const;

export function PlansPage() {
  const [query, setQuery] = useState<PlanQuery>({ filter: 'active', search: '', offset: 0 });
  const edit = (change: Partial<PlanQuery>) => setQuery({ ...query, offset: 0, ...change });
  const isPermitted = useMay('usage_control:write');
  if (!isPermitted) {
    return (
      <EmptyState icon={<Layers size={20} />} title="You cannot view limit plans">
        This key lacks the permission usage_control:write. The Subjects tab shows the limits of each subject.
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-4 px-4 pb-10 sm:px-6">
      <search className="flex flex-wrap gap-2">
        <TextInput
          aria-label="Search limit plans"
          placeholder="Search"
          className="min-w-0 grow basis-40 sm:grow-0 sm:basis-60"
          value={query.search}
          onChange={(event) => edit({ search: event.target.value })}
        />
        <Select
          aria-label="Plan status"
          options={FILTERS}
          value={query.filter}
          onChange={(filter: PlanFilter) => edit({ filter })}
        />
      </search>
      <PlanList query={query} onOffset={(offset) => edit({ offset })} />
    </div>
  );
}

function PlanList({
  query,
  onOffset,
}: {
  readonly query: PlanQuery;
  readonly onOffset: (offset: number) => void;
}) {
  const { id } = useProject();
  const plans = usePlans({ ...query, search: useSettled(query.search) });
  if (plans.isError) return <ReadFailure of={plans} />;
  if (plans.data === undefined) return <Skeleton className="h-64" />;
  if (plans.data.usage_limit_plans.length === 0) {
    return query.search === '' && query.filter === 'active' ? (
      <EmptyState icon={<Layers size={20} />} title="No limit plans yet">
        A limit plan is a set of limits that many customers share. Create one, publish it, and assign it to
        routes.
      </EmptyState>
    ) : (
      <EmptyState icon={<Layers size={20} />} title="No matching plans">
        Change the search or the filter.
      </EmptyState>
    );
  }
  return (
    <>
      <Table
        label="Limit plans"
        columns={columnsFor(`/p/${id}/limits/plans`)}
        rows={plans.data.usage_limit_plans}
        keyOf={(plan) => plan.plan_id}
      />
      <Pager page={plans.data} onOffset={onOffset} />
    </>
  );
}

function columnsFor(path: string): readonly Column<UsageLimitPlanVersion>[] {
  return [
    {
      title: 'Plan',
      cell: ({ plan_id, title }) => (
        <Link href={`${path}/${plan_id}`} className={ROW_TARGET}>
          {title}
        </Link>
      ),
    },
    { title: 'Name', cell: ({ name }) => <code className="font-mono text-xs">{name}</code> },
    { title: 'Rules', isNumber: true, cell: ({ rules }) => rules.length },
    { title: 'Revision', isNumber: true, cell: ({ revision }) => (revision === 0 ? '—' : revision) },
    {
      title: 'Published (UTC)',
      cell: ({ published_at }) => (published_at === null ? '—' : dateTime(published_at, 'UTC')),
    },
    { title: 'Status', isTitleHidden: true, cell: ({ status }) => <PlanBadge status={status} /> },
  ];
}
