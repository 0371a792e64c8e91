import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { useMe } from '../../api/session.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { EmptyState } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { AuditPage } from './audit-page.js';
import { KeysPage } from './keys-page.js';
import { PlanPage } from './plan-page.js';

/** What concerns the whole tenant. */
export function SettingsPages() {
  const me = useMe();
  const isAdmin =
    me.kind === 'service' || (me.permissions.includes('tenant:admin') && me.project_id === null);
  return (
    <WithTabs>
      {isAdmin ? (
        <Switch>
          <Route path="/p/:projectId/settings/keys" component={KeysPage} />
          <Route path="/p/:projectId/settings/audit" component={AuditPage} />
          <Route component={PlanPage} />
        </Switch>
      ) : (
        <EmptyState title="For administrators">
          Keys, the audit log and the plan are shown to who signs in with a key that may administer the
          tenant.
        </EmptyState>
      )}
    </WithTabs>
  );
}

function WithTabs({ children }: { readonly children: ReactNode }) {
  const { id } = useProject();
  const base = `/p/${id}/settings`;
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        label="Settings"
        tabs={[
          { label: 'Plan and usage', href: base },
          { label: 'API keys', href: `${base}/keys` },
          { label: 'Audit log', href: `${base}/audit` },
        ]}
      />
      <div className="px-4 pb-10 sm:px-6">{children}</div>
    </>
  );
}
