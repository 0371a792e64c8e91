import type { UsageLimitPlanDetail } from '@tollgate/contract';
import { Archive, ArchiveRestore, Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useMay } from '../../../api/session.js';
import { count, dateTime } from '../../../format.js';
import { useProject } from '../../../project.js';
import { FailedPage } from '../../../shell/failed-page.js';
import { PageHeader } from '../../../shell/page-header.js';
import { Button, IconButton } from '../../../ui/button.js';
import { Menu } from '../../../ui/menu.js';
import { Skeleton } from '../../../ui/states.js';
import { useRoutesOfPlan } from '../routes/api.js';
import { ruleDraft } from '../rules/rule-draft.js';
import { RuleSentences } from '../rules/rule-sentences.js';
import { type PlanAction, usePlan } from './api.js';
import { PlanActionDialog } from './plan-action-dialog.js';
import { PlanBacktest } from './plan-backtest.js';
import { PlanBadge } from './plan-badge.js';
import { diffOf } from './plan-diff.js';
import { PlanDiffView } from './plan-diff-view.js';
import { PlanVersions } from './plan-versions.js';

/** One limit plan: its published rules, its draft and its versions. */
export function LimitPlanPage({ planId }: { readonly planId: string }) {
  const { id: projectId } = useProject();
  const plan = usePlan(planId);
  const [action, setAction] = useState<PlanAction>();
  const mayBacktest = useMay('usage:read');
  const plans = `/p/${projectId}/limits/plans`;
  if (plan.isError) return <FailedPage above={{ label: 'Limit plans', href: plans }} of={plan} />;
  if (plan.data === undefined) return <Skeleton className="m-6 h-96" />;
  return (
    <>
      <PageHeader
        above={{ label: 'Limit plans', href: plans }}
        title={plan.data.title}
        actions={<PlanActions plan={plan.data} onAction={setAction} />}
      />
      <div className="flex flex-col gap-7 px-4 pb-10 sm:px-6">
        <PlanFacts plan={plan.data} />
        <Draft plan={plan.data} />
        <Published plan={plan.data} />
        {mayBacktest && <PlanBacktest planId={planId} isDraft={plan.data.draft !== null} />}
        <PlanVersions planId={planId} />
      </div>
      <PlanActionDialog action={action} plan={plan.data} onClose={() => setAction(undefined)} />
    </>
  );
}

function PlanActions({
  plan: { id, status, draft },
  onAction,
}: {
  readonly plan: UsageLimitPlanDetail;
  readonly onAction: (action: PlanAction) => void;
}) {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  if (!useMay('usage_control:write')) return null;
  if (status === 'archived') {
    return (
      <Button onClick={() => onAction('restore')}>
        <ArchiveRestore size={14} />
        Restore
      </Button>
    );
  }
  const edit = `/p/${projectId}/limits/plans/${id}/edit`;
  return (
    <>
      <Button look={draft === null ? 'primary' : 'plain'} onClick={() => navigate(edit)}>
        {draft === null ? 'Edit' : 'Edit draft'}
      </Button>
      {draft !== null && (
        <Button look="primary" onClick={() => onAction('publish')}>
          Publish
        </Button>
      )}
      <Menu
        trigger={
          <IconButton label="Actions for this plan">
            <Ellipsis size={16} />
          </IconButton>
        }
        items={[
          {
            label: 'Archive',
            icon: <Archive size={14} />,
            isDangerous: true,
            onSelect: () => onAction('archive'),
          },
        ]}
      />
    </>
  );
}

function PlanFacts({ plan }: { readonly plan: UsageLimitPlanDetail }) {
  const { id: projectId } = useProject();
  const routes = useRoutesOfPlan(plan.id);
  return (
    <div className="flex flex-col gap-2 text-[13px] text-ink-soft">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <PlanBadge status={plan.status} />
        <code className="font-mono text-xs">{plan.name}</code>
        {routes.data !== undefined && (
          <Link
            href={`/p/${projectId}/limits/routes?plan=${plan.id}`}
            className="underline-offset-2 hover:text-ink hover:underline"
          >
            {routes.data === 1 ? '1 route' : `${count(routes.data)} routes`}
          </Link>
        )}
      </p>
      {plan.description !== '' && (
        <p className="max-w-3xl whitespace-pre-line break-words">{plan.description}</p>
      )}
    </div>
  );
}

function Draft({ plan: { draft, published, status } }: { readonly plan: UsageLimitPlanDetail }) {
  if (draft === null) return null;
  return (
    <section aria-label="Draft">
      <h2 className="mb-2 text-[15px] font-semibold">
        Draft
        <span className="ml-2 text-xs font-normal text-ink-faint">
          {status === 'archived'
            ? 'can be published once the plan is restored'
            : published === null
              ? 'not published yet'
              : 'changes that publishing makes'}
        </span>
      </h2>
      {published === null ? (
        <RuleSentences label="Draft rules" rules={draft.rules.map(ruleDraft)} />
      ) : (
        <PlanDiffView label="Draft changes" diff={diffOf(published, draft)} />
      )}
    </section>
  );
}

function Published({ plan: { published } }: { readonly plan: UsageLimitPlanDetail }) {
  if (published === null) return null;
  return (
    <section aria-label="Published">
      <h2 className="mb-2 text-[15px] font-semibold">
        Published
        <span className="ml-2 text-xs font-normal text-ink-faint">
          revision {published.revision}
          {published.published_at !== null && `, since ${dateTime(published.published_at, 'UTC')} UTC`}
        </span>
      </h2>
      <RuleSentences label="Published rules" rules={published.rules.map(ruleDraft)} />
    </section>
  );
}
