import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { Tabs } from '../../ui/tabs.js';
import { PlanPage } from './plan-page.js';
import { PlansPage } from './plans-page.js';
import { SubjectsPage } from './subjects-page.js';

export function LimitsPages() {
  return (
    <Switch>
      <Route path="/p/:projectId/limits/plans/:planId">{({ planId }) => <PlanPage planId={planId} />}</Route>
      <Route path="/p/:projectId/limits/plans">
        <WithTabs>
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

function WithTabs({ children }: { readonly children: ReactNode }) {
  const { id } = useProject();
  return (
    <>
      <PageHeader title="Limits" />
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
