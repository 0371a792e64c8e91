import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { useProject } from '../../project.js';
import { NotFoundPage } from '../../shell/not-found-page.js';
import { PageHeader } from '../../shell/page-header.js';
import { EmptyState } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { useIsAdmin } from './api.js';
import { AuditPage } from './audit-page.js';
import { KeysPage, NewKeyButton } from './keys-page.js';
import { PlanPage } from './plan-page.js';
import { NewProjectButton, ProjectsPage } from './projects-page.js';

/** What concerns the whole tenant. */
export function SettingsPages() {
  return (
    <Switch>
      <Route path="/p/:projectId/settings">
        <WithTabs action={<NewProjectButton />}>
          <ProjectsPage />
        </WithTabs>
      </Route>
      <Route path="/p/:projectId/settings/keys">
        <WithTabs action={<NewKeyButton />}>
          <ForAdmins>
            <KeysPage />
          </ForAdmins>
        </WithTabs>
      </Route>
      <Route path="/p/:projectId/settings/audit">
        <WithTabs>
          <ForAdmins>
            <AuditPage />
          </ForAdmins>
        </WithTabs>
      </Route>
      <Route path="/p/:projectId/settings/plan">
        <WithTabs>
          <PlanPage />
        </WithTabs>
      </Route>
      <Route component={NotFoundPage} />
    </Switch>
  );
}

function ForAdmins({ children }: { readonly children: ReactNode }) {
  const isAdmin = useIsAdmin();
  if (isAdmin) return children;
  return (
    <EmptyState title="For administrators">
      This is shown to who signs in with a key that has the permission tenant:admin.
    </EmptyState>
  );
}

function WithTabs({ action, children }: { readonly action?: ReactNode; readonly children: ReactNode }) {
  const { id } = useProject();
  const base = `/p/${id}/settings`;
  return (
    <>
      <PageHeader title="Settings" actions={action} />
      <Tabs
        label="Settings"
        tabs={[
          { label: 'Projects', href: base },
          { label: 'API keys', href: `${base}/keys` },
          { label: 'Audit log', href: `${base}/audit` },
          { label: 'Plan and usage', href: `${base}/plan` },
        ]}
      />
      <div className="px-4 pb-10 sm:px-6">{children}</div>
    </>
  );
}
