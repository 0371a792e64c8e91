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

/** Explains what publishing, archiving or restoring a plan changes, and does it on confirmation. */
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
  const bound = routes === undefined ? 'Routes with this plan' : routesText(routes);
  if (action === 'publish') {
    return (
      <>
        <p>
          {routes === 0
            ? 'No route uses this plan yet. Once it is published, you can assign it to routes.'
            : `${bound} will use this revision immediately. A changed limit amount applies from the next window.`}
        </p>
        {plan.draft !== null && (
          <PlanDiffView label="Changes" diff={diffOf(plan.published ?? undefined, plan.draft)} />
        )}
      </>
    );
  }
  if (action === 'archive') {
    return (
      <p>
        {routes === 0
          ? 'No route uses this plan, so no subject loses a limit. '
          : `${bound} will keep this plan and its limits. `}
        Until it is restored, the plan cannot be assigned, changed or published.
      </p>
    );
  }
  return (
    <p>
      The plan can be assigned, changed and published again. Usage counters are not reset, and routes with
      this plan keep it.
    </p>
  );
}

function routesText(routes: number): string {
  return routes === 1 ? '1 route' : `${count(routes)} routes`;
}
