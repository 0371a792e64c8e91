import type { SubjectRoute } from '@tollgate/contract';
import { Route as RouteIcon } from 'lucide-react';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useProject } from '../../../project.js';
import { Select, TextInput } from '../../../ui/field.js';
import { Pager } from '../../../ui/pager.js';
import { EmptyState, ReadFailure, Skeleton } from '../../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../../ui/table.js';
import { useSettled } from '../../../ui/use-settled.js';
import { usePublishedPlans } from '../plans/api.js';
import { type Subject, subjectName, subjectOf } from '../subjects/subject.js';
import { SubjectForm } from '../subjects/subject-form.js';
import { ALL_ROUTES, type RouteQuery, useRoutes } from './api.js';
import { PlanName } from './plan-name.js';
import { ResolvedRoute } from './resolved-route.js';
import { RouteAccount } from './route-account.js';
import { UnknownSubjectsField } from './unknown-subjects.js';

/** The routes of the project, and the lookup of the route that applies to a subject. */
export function RoutesPage() {
  const [parameters] = useSearchParams();
  const [query, setQuery] = useState<RouteQuery>({
    ...ALL_ROUTES,
    account_id: parameters.get('account') ?? '',
    usage_limit_plan_id: parameters.get('plan') ?? '',
  });
  return (
    <div className="flex flex-col gap-4 px-4 pb-10 sm:px-6">
      <RouteLookup />
      <RouteFilters query={query} onChange={(change) => setQuery({ ...query, offset: 0, ...change })} />
      <RouteList query={query} onOffset={(offset) => setQuery({ ...query, offset })} />
      <UnknownSubjectsField />
    </div>
  );
}

function RouteLookup() {
  const [subject, setSubject] = useState<Subject>();
  return (
    <section
      aria-label="Find a route"
      className="flex flex-col gap-3 rounded-xl border border-line bg-panel p-4 shadow-xs"
    >
      <h2 className="text-[13px] font-semibold">
        Find a route{' '}
        <span className="font-normal text-ink-faint">See which route applies to a subject, and why.</span>
      </h2>
      <SubjectForm initial={{ type: '', id: '' }} action="Find route" onSubmit={setSubject} />
      {subject !== undefined && <ResolvedRoute subject={subject} />}
    </section>
  );
}

function RouteFilters({
  query,
  onChange,
}: {
  readonly query: RouteQuery;
  readonly onChange: (change: Partial<RouteQuery>) => void;
}) {
  const { data: plans = [] } = usePublishedPlans();
  const chosen = query.usage_limit_plan_id;
  const known = plans.map(({ plan_id, title }) => ({ value: plan_id, label: title }));
  const options = [
    { value: '', label: 'All limit plans' },
    ...known,
    ...(chosen === '' || known.some(({ value }) => value === chosen)
      ? []
      : [{ value: chosen, label: chosen }]),
  ];
  return (
    <search className="flex flex-wrap gap-2">
      <TextInput
        aria-label="Filter by type"
        placeholder="Type"
        className="min-w-0 grow basis-28 sm:grow-0 sm:basis-36"
        value={query.subject_type}
        onChange={(event) => onChange({ subject_type: event.target.value.trim() })}
      />
      <TextInput
        aria-label="Filter by ID"
        placeholder="Exact ID or *"
        className="min-w-0 grow basis-36 sm:grow-0 sm:basis-52"
        value={query.subject_id}
        onChange={(event) => onChange({ subject_id: event.target.value })}
      />
      <TextInput
        aria-label="Filter by account"
        placeholder="Account ID"
        className="min-w-0 grow basis-36 sm:grow-0 sm:basis-72"
        value={query.account_id}
        onChange={(event) => onChange({ account_id: event.target.value.trim() })}
      />
      <Select
        aria-label="Filter by plan"
        className="max-w-56 max-sm:grow"
        options={options}
        value={chosen}
        onChange={(usage_limit_plan_id) => onChange({ usage_limit_plan_id })}
      />
    </search>
  );
}

/** Subject types that the service accepts; incomplete input is not sent. */
const SUBJECT_TYPE = /^([a-z][a-z0-9_]{0,63})?$/;

function RouteList({
  query,
  onOffset,
}: {
  readonly query: RouteQuery;
  readonly onOffset: (offset: number) => void;
}) {
  const { id: projectId } = useProject();
  const settled = useSettled(query);
  const isName = SUBJECT_TYPE.test(settled.subject_type);
  const routes = useRoutes(isName ? settled : { ...settled, subject_type: '' });
  if (!isName) {
    return (
      <EmptyState icon={<RouteIcon size={20} />} title="Invalid subject type">
        A subject type is a lowercase word such as customer or api_key.
      </EmptyState>
    );
  }
  if (routes.isError) return <ReadFailure of={routes} />;
  if (routes.data === undefined) return <Skeleton className="h-64" />;
  if (routes.data.subject_routes.length === 0) {
    const { offset: _offset, ...filters } = settled;
    const isFiltered = Object.values(filters).some(Boolean);
    return (
      <EmptyState icon={<RouteIcon size={20} />} title={isFiltered ? 'No matching routes' : 'No routes yet'}>
        {isFiltered
          ? 'Change or clear the filters.'
          : 'A route sets which account pays for a subject and which limits apply. Start with a default route for all subjects of a type.'}
      </EmptyState>
    );
  }
  return (
    <>
      <Table
        label="Routes"
        columns={columnsFor(projectId)}
        rows={routes.data.subject_routes}
        keyOf={({ id }) => id}
      />
      <Pager page={routes.data} onOffset={onOffset} />
    </>
  );
}

function columnsFor(projectId: string): readonly Column<SubjectRoute>[] {
  return [
    {
      title: 'Subject',
      cell: (route) => (
        <Link href={`/p/${projectId}/limits/routes/${route.id}`} className={ROW_TARGET}>
          {subjectName(subjectOf(route))}
        </Link>
      ),
    },
    {
      title: 'Parent',
      cell: ({ parent }) => (parent === null ? '–' : subjectName(subjectOf(parent))),
    },
    {
      title: 'Limit plan',
      cell: ({ usage_limit_plan_id }) => (
        <span className="relative z-10">
          <PlanName id={usage_limit_plan_id} />
        </span>
      ),
    },
    {
      title: 'Account',
      cell: (route) => (
        <span className="relative z-10">
          <RouteAccount route={route} />
        </span>
      ),
    },
    { title: 'Timezone', cell: ({ timezone }) => timezone },
  ];
}
