import type { UsageLimitPlanVersion } from '@tollgate/contract';
import { Layers } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useProject } from '../../project.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { TextInput } from '../../ui/field.js';
import { EmptyState, FailureNote, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { usePlans } from './api.js';

export function PlansPage() {
  const { id } = useProject();
  const [archived, setArchived] = useState(false);
  const [search, setSearch] = useState('');
  const plans = usePlans({ archived, search });
  const columns: readonly Column<UsageLimitPlanVersion>[] = [
    {
      title: 'Plan',
      cell: ({ plan_id, title }) => (
        <Link href={`/p/${id}/limits/plans/${plan_id}`} className={ROW_TARGET}>
          {title}
        </Link>
      ),
    },
    { title: 'Name', cell: ({ name }) => <code className="font-mono text-xs">{name}</code> },
    { title: 'Rules', isNumber: true, cell: ({ rules }) => rules.length },
    { title: 'Revision', isNumber: true, cell: ({ revision }) => (revision === 0 ? '—' : revision) },
    { title: 'Status', isTitleHidden: true, cell: ({ status }) => <PlanBadge status={status} /> },
  ];
  return (
    <div className="flex flex-col gap-4 px-4 pb-10 sm:px-6">
      <search className="flex flex-wrap gap-2">
        <TextInput
          aria-label="Search plans"
          placeholder="Search"
          className="w-60"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <Button aria-pressed={archived} onClick={() => setArchived(!archived)}>
          {archived ? 'Show active' : 'Show archived'}
        </Button>
      </search>
      {plans.isError && <FailureNote error={plans.error} onRetry={() => void plans.refetch()} />}
      {plans.isPending && <Skeleton className="h-64" />}
      {plans.data?.usage_limit_plans.length === 0 && (
        <EmptyState icon={<Layers size={20} />} title="No plans">
          A plan is a set of limits that many subjects share.
        </EmptyState>
      )}
      {plans.data !== undefined && plans.data.usage_limit_plans.length > 0 && (
        <Table
          label="Plans"
          columns={columns}
          rows={plans.data.usage_limit_plans}
          keyOf={(plan) => plan.plan_id}
        />
      )}
    </div>
  );
}

export function PlanBadge({ status }: Pick<UsageLimitPlanVersion, 'status'>) {
  return (
    <Badge tone={status === 'published' ? 'good' : status === 'draft' ? 'warn' : 'neutral'}>{status}</Badge>
  );
}
