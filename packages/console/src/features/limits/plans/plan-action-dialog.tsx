import type { UsageLimitPlanDetail } from '@tollgate/contract';
import type { ReactNode } from 'react';
import { count } from '../../../format.js';
import { Button } from '../../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../../ui/dialog.js';
import { FailureNote } from '../../../ui/states.js';
import { useRoutesOfPlan } from '../routes/api.js';
import { type PlanAction, usePlanAction } from './api.js';
import { diffOf } from './plan-diff.js';
import { PlanDiffView } from './plan-diff-view.js';

interface PlanActionProps {
  readonly plan: UsageLimitPlanDetail;
  readonly onClose: () => void;
}

/** Says what publishing, archiving or restoring a plan changes, and does it. */
export function PlanActionDialog({
  action,
  ...props
}: PlanActionProps & { readonly action: PlanAction | undefined }) {
  const titles = {
    publish: `Publish revision ${props.plan.current_revision + 1}`,
    archive: `Archive ${props.plan.title}`,
    restore: `Restore ${props.plan.title}`,
  };
  return (
    <Dialog
      title={action === undefined ? '' : titles[action]}
      isOpen={action !== undefined}
      onClose={props.onClose}
      isWide={action === 'publish'}
    >
      {action !== undefined && <PlanActionBody action={action} {...props} />}
    </Dialog>
  );
}

const LABELS = { publish: 'Publish', archive: 'Archive', restore: 'Restore' } as const;

function PlanActionBody({ action, plan, onClose }: PlanActionProps & { readonly action: PlanAction }) {
  const change = usePlanAction(plan.id);
  const routes = useRoutesOfPlan(plan.id);
  return (
    <>
      <div className="flex flex-col gap-4 text-[13px] text-ink-soft">
        <Consequences action={action} plan={plan} routes={routes.data} />
        {change.isError && <FailureNote error={change.error} />}
      </div>
      <DialogActions>
        <CancelButton />
        <Button
          look={action === 'archive' ? 'danger' : 'primary'}
          isBusy={change.isPending}
          onClick={() => change.mutate(action, { onSuccess: onClose })}
        >
          {LABELS[action]}
        </Button>
      </DialogActions>
    </>
  );
}

function Consequences({
  action,
  plan,
  routes,
}: {
  readonly action: PlanAction;
  readonly plan: UsageLimitPlanDetail;
  readonly routes: number | undefined;
}): ReactNode {
  const bound = routes === undefined ? 'The routes of the plan' : routesText(routes);
  if (action === 'publish') {
    return (
      <>
        <p>
          {routes === 0
            ? 'No route is bound to the plan yet: it can be bound from then on.'
            : `${bound} ${routes === 1 ? 'has' : 'have'} the plan: it counts for their subjects at once. Another limit counts from the next window on.`}
        </p>
        {plan.draft !== null && (
          <PlanDiffView label="What changes" diff={diffOf(plan.published ?? undefined, plan.draft)} />
        )}
      </>
    );
  }
  if (action === 'archive') {
    return (
      <p>
        {routes === 0
          ? 'No route is bound to the plan, so no subject loses a limit. '
          : `${bound} ${routes === 1 ? 'stays' : 'stay'} bound, and their subjects keep their limits as they are. `}
        The plan can no longer be bound, changed or published until it is restored.
      </p>
    );
  }
  return (
    <p>
      The plan can be bound, changed and published again. Nothing that was counted is reset; what its subjects
      have stays as it is.
    </p>
  );
}

function routesText(routes: number): string {
  return routes === 1 ? '1 route' : `${count(routes)} routes`;
}
