import { Route, Switch } from 'wouter';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { CorrectionPage } from '../corrections/correction-page.js';
import { CorrectionsPage } from '../corrections/corrections-page.js';
import { UsagePage } from './usage-page.js';

/** The events of the project, and their corrections. */
export function UsagePages() {
  return (
    <Switch>
      <Route path="/p/:projectId/usage/corrections/:correctionId">
        {({ correctionId }) => <CorrectionPage key={correctionId} correctionId={correctionId} />}
      </Route>
      <Route path="/p/:projectId/usage/corrections">
        <PageHeader
          title="Usage"
          lead="Corrections change what events have charged. They add entries with the difference and keep the history."
        />
        <UsageTabs />
        <CorrectionsPage />
      </Route>
      <Route>
        <UsagePage tabs={<UsageTabs />} />
      </Route>
    </Switch>
  );
}

function UsageTabs() {
  const { id } = useProject();
  return (
    <Tabs
      label="Usage"
      tabs={[
        { label: 'Events', href: `/p/${id}/usage` },
        { label: 'Corrections', href: `/p/${id}/usage/corrections` },
      ]}
    />
  );
}
