import { Plus } from 'lucide-react';
import { type ComponentType, type ReactNode, useState } from 'react';
import { Route, Switch } from 'wouter';
import { useProject } from '../../project.js';
import { NotFoundPage } from '../../shell/not-found-page.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { useIsAdmin } from './api.js';
import { AuditPage } from './audit-page.js';
import { KeyDialog } from './key-dialog.js';
import { KeysPage } from './keys-page.js';
import { SubscriptionPlanPage } from './plan-page.js';
import { ProjectDialog } from './project-dialog.js';
import { ProjectsPage } from './projects-page.js';

/** Settings of the whole tenant. */
export function SettingsPages() {
  return (
    <Switch>
      <Route path="/p/:projectId/settings">
        <WithTabs action={<NewButton label="New project" dialog={ProjectDialog} />}>
          <ProjectsPage />
        </WithTabs>
      </Route>
      <Route path="/p/:projectId/settings/keys">
        <WithTabs action={<NewButton label="New key" dialog={KeyDialog} />}>
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
          <SubscriptionPlanPage />
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
    <EmptyState title="Administrators only">
      To view this page, sign in with a key that has the permission tenant:admin.
    </EmptyState>
  );
}

interface NewButtonProps {
  readonly label: string;
  readonly dialog: ComponentType<{ readonly isOpen: boolean; readonly onClose: () => void }>;
}

/** A button for administrators that opens a form. */
function NewButton({ label, dialog: NewDialog }: NewButtonProps) {
  const isAdmin = useIsAdmin();
  const [isOpen, setOpen] = useState(false);
  if (!isAdmin) return null;
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        <Plus size={14} />
        {label}
      </Button>
      <NewDialog isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
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
          { label: 'Subscription plan', href: `${base}/plan` },
        ]}
      />
      <div className="px-4 pb-10 sm:px-6">{children}</div>
    </>
  );
}
