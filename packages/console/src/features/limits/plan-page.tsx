import type { UsageLimitPlanVersion } from '@tollgate/contract';
import { Link } from 'wouter';
import { dateTime, decimal } from '../../format.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { Button } from '../../ui/button.js';
import { EmptyState, FailureNote, Skeleton } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { type PlanAction, usePlan, usePlanAction } from './api.js';
import { PlanBadge } from './plans-page.js';

type Rule = UsageLimitPlanVersion['rules'][number];

const COLUMNS: readonly Column<Rule>[] = [
  { title: 'Limit', cell: ({ limit_key }) => <code className="font-mono text-xs">{limit_key}</code> },
  {
    title: 'Counts',
    cell: ({ measure, selector_type, selector_value, dimension_key, dimension_value }) =>
      [
        measure,
        selector_type === 'all'
          ? 'of all usage'
          : `of ${selector_value}${selector_type === 'metric_prefix' ? '…' : ''}`,
        dimension_key == null ? '' : `where ${dimension_key} is ${dimension_value}`,
      ].join(' '),
  },
  { title: 'Per', cell: ({ period }) => period },
  {
    title: 'At most',
    isNumber: true,
    cell: ({ limit_amount, currency, measure }) => (
      <span title={limit_amount}>
        {decimal(limit_amount)} {measure === 'amount' ? currency : ''}
      </span>
    ),
  },
  { title: 'Then', cell: ({ action }) => (action === 'block' ? 'blocks' : 'tells') },
];

/** One plan: what is in force, what is being prepared, and what can be done with it. */
export function PlanPage({ planId }: { readonly planId: string }) {
  const { id } = useProject();
  const plan = usePlan(planId);
  const action = usePlanAction(planId);
  if (plan.isError) {
    return (
      <div className="p-6">
        <FailureNote error={plan.error} onRetry={() => void plan.refetch()} />
      </div>
    );
  }
  if (plan.data === undefined) return <Skeleton className="m-6 h-96" />;
  const { title, name, status, draft, published } = plan.data;
  const actions: readonly (readonly [PlanAction, string])[] =
    status === 'archived'
      ? [['restore', 'Restore']]
      : [...(draft === null ? [] : [['publish', 'Publish the draft'] as const]), ['archive', 'Archive']];
  return (
    <>
      <PageHeader
        title={
          <>
            <Link href={`/p/${id}/limits/plans`} className="font-normal text-ink-faint hover:text-ink">
              Plans /
            </Link>{' '}
            {title}
          </>
        }
        actions={actions.map(([what, label]) => (
          <Button
            key={what}
            look={what === 'publish' ? 'primary' : 'plain'}
            isBusy={action.isPending && action.variables === what}
            onClick={() => action.mutate(what)}
          >
            {label}
          </Button>
        ))}
      />
      <div className="flex flex-col gap-6 px-4 pb-10 sm:px-6">
        <p className="flex items-center gap-2 text-[13px] text-ink-soft">
          <PlanBadge status={status} />
          <code className="font-mono text-xs">{name}</code>
        </p>
        {action.isError && <FailureNote error={action.error} />}
        <Version title="In force" version={published} nothing="This plan was not published yet." />
        <Version title="Draft" version={draft} nothing="Nothing is being prepared." />
      </div>
    </>
  );
}

function Version({
  title,
  version,
  nothing,
}: {
  readonly title: string;
  readonly version: UsageLimitPlanVersion | null;
  readonly nothing: string;
}) {
  return (
    <section aria-label={title}>
      <h2 className="mb-2 text-[15px] font-semibold">
        {title}
        {version?.published_at != null && (
          <span className="ml-2 text-xs font-normal text-ink-faint">
            revision {version.revision}, {dateTime(version.published_at, 'UTC')} UTC
          </span>
        )}
      </h2>
      {version === null ? (
        <p className="text-[13px] text-ink-faint">{nothing}</p>
      ) : version.rules.length === 0 ? (
        <EmptyState title="No rules">A plan without rules limits nothing.</EmptyState>
      ) : (
        <Table label={`Rules, ${title}`} columns={COLUMNS} rows={version.rules} keyOf={(rule) => rule.id} />
      )}
    </section>
  );
}
