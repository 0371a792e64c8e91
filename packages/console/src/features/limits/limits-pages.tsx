import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { Button } from '../../ui/button.js';
import { Tabs } from '../../ui/tabs.js';
import { EditPlanPage, NewPlanPage } from './plans/plan-editor-page.js';
import { PlanPage } from './plans/plan-page.js';
import { PlansPage } from './plans/plans-page.js';
import { SubjectsPage } from './subjects-page.js';

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
        {({ planId }) => <PlanPage key={planId} planId={planId} />}
      </Route>
      <Route path="/p/:projectId/limits/plans">
        <WithTabs action={<NewPlanButton />}>
          <PlansPage />
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
      <PageHeader title="Limits" actions={action} />
      <Tabs
        label="Limits"
        tabs={[
          { label: 'Subjects', href: `/p/${id}/limits` },
          { label: 'Plans', href: `/p/${id}/limits/plans` },
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
      New plan
    </Button>
  );
}
