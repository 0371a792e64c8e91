import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button } from '../../ui/button.js';
import { Tabs } from '../../ui/tabs.js';
import { LeasePage } from './leases/lease-page.js';
import { LeasesPage } from './leases/leases-page.js';
import { NewLeaseButton } from './leases/open-lease-button.js';
import { EditPlanPage, NewPlanPage } from './plans/plan-editor-page.js';
import { LimitPlanPage } from './plans/plan-page.js';
import { PlansPage } from './plans/plans-page.js';
import { RouteDialog } from './routes/route-dialog.js';
import { RoutePage } from './routes/route-page.js';
import { RoutesPage } from './routes/routes-page.js';
import { SubjectsPage } from './subjects/subjects-page.js';

export function LimitsPages() {
  return (
    <Switch>
      <Route path="/p/:projectId/limits/plans/new">
        <NewPlanPage />
      </Route>
      <Route path="/p/:projectId/limits/plans/:planId/edit">
        {({ planId }) => <EditPlanPage key={planId} planId={planId} />}
      </Route>
      <Route path="/p/:projectId/limits/plans/:planId">
        {({ planId }) => <LimitPlanPage key={planId} planId={planId} />}
      </Route>
      <Route path="/p/:projectId/limits/plans">
        <WithTabs action={<NewPlanButton />}>
          <PlansPage />
        </WithTabs>
      </Route>
      <Route path="/p/:projectId/limits/routes/:routeId">
        {({ routeId }) => <RoutePage key={routeId} routeId={routeId} />}
      </Route>
      <Route path="/p/:projectId/limits/routes">
        <WithTabs action={<NewRouteButton />}>
          <RoutesPage />
        </WithTabs>
      </Route>
      <Route path="/p/:projectId/limits/leases/:leaseId">
        {({ leaseId }) => <LeasePage key={leaseId} leaseId={leaseId} />}
      </Route>
      <Route path="/p/:projectId/limits/leases">
        <WithTabs action={<NewLeaseButton />}>
          <LeasesPage />
        </WithTabs>
      </Route>
      <Route>
        <WithTabs>
          <SubjectsPage />
        </WithTabs>
      </Route>
    </Switch>
  );
}

function WithTabs({ action, children }: { readonly action?: ReactNode; readonly children: ReactNode }) {
  const { id } = useProject();
  return (
    <>
      <PageHeader
        title="Limits"
        lead="Limit plans set how much can be used. Routes assign a limit plan to each customer. Budget leases reserve amounts for work in progress."
        actions={action}
      />
      <Tabs
        label="Limits"
        tabs={[
          { label: 'Subjects', href: `/p/${id}/limits` },
          { label: 'Routes', href: `/p/${id}/limits/routes` },
          { label: 'Limit plans', href: `/p/${id}/limits/plans` },
          { label: 'Budget leases', href: `/p/${id}/limits/leases` },
        ]}
      />
      {children}
    </>
  );
}

function NewPlanButton() {
  const { id } = useProject();
  const [, navigate] = useLocation();
  if (!useMay('usage_control:write')) return null;
  return (
    <Button look="primary" onClick={() => navigate(`/p/${id}/limits/plans/new`)}>
      <Plus size={14} />
      New limit plan
    </Button>
  );
}

function NewRouteButton() {
  const { id } = useProject();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  if (!useMay('usage_control:write')) return null;
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        <Plus size={14} />
        New route
      </Button>
      <RouteDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onSaved={(route) => navigate(`/p/${id}/limits/routes/${route.id}`)}
      />
    </>
  );
}
