import { useState } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { FailedPage } from '../../shell/failed-page.js';
import { PageHeader } from '../../shell/page-header.js';
import { Badge } from '../../ui/badge.js';
import { Skeleton } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { UnsavedGuard } from '../../ui/unsaved-guard.js';
import { type RuleSet, type RuleSetKind, useRuleSet } from './api.js';
import { Bindings } from './bindings.js';
import { EditTab, type EditView } from './edit-tab.js';
import { RuleSetActions } from './rule-set-actions.js';
import { titleOf } from './rule-set-list.js';
import { StatusBadges } from './status.js';
import { BacktestPanel, TestPanel } from './trial/index.js';
import { type Editing, useEditing } from './use-editing.js';
import { VersionsTab } from './versions-tab.js';

/** One rule set: its editor, versions, test and backtest. */
export function RuleSetPage({ kind, id }: { readonly kind: RuleSetKind; readonly id: string }) {
  const { id: projectId } = useProject();
  const ruleSet = useRuleSet(kind, id);
  if (ruleSet.isError)
    return <FailedPage above={{ label: 'Rules', href: `/p/${projectId}/rules` }} of={ruleSet} />;
  if (ruleSet.data === undefined) return <Skeleton className="m-6 h-96" />;
  return <LoadedPage kind={kind} ruleSet={ruleSet.data} />;
}

function LoadedPage({ kind, ruleSet }: { readonly kind: RuleSetKind; readonly ruleSet: RuleSet }) {
  const { id: projectId } = useProject();
  const mayWrite = useMay('rules:write');
  const editing = useEditing(kind, ruleSet, !mayWrite || ruleSet.status === 'archived');
  const { copy, base } = editing;
  return (
    <>
      <UnsavedGuard isDirty={copy.isDirty} keptBelow={base} />
      {/* Sticky, so that saving stays visible on long pages. */}
      <div className="lg:sticky lg:top-0 lg:z-20 lg:bg-page">
        <PageHeader
          above={{ label: 'Rules', href: `/p/${projectId}/rules` }}
          title={titleOf(ruleSet)}
          actions={!editing.isReadOnly && <RuleSetActions kind={kind} ruleSet={ruleSet} {...editing} />}
        />
      </div>
      <RuleSetStatus kind={kind} ruleSet={ruleSet} copy={copy} mayWrite={mayWrite} />
      <Tabs
        label="Rule set"
        tabs={[
          { label: 'Edit', href: base },
          { label: 'Versions', href: `${base}/versions` },
          { label: 'Test', href: `${base}/test` },
          { label: 'Backtest', href: `${base}/backtest` },
        ]}
      />
      <TabContent kind={kind} ruleSet={ruleSet} editing={editing} />
    </>
  );
}

/** The content of the current tab. Edits are kept while switching tabs. */
function TabContent({
  kind,
  ruleSet: { id, version },
  editing: { copy, base, ...editing },
}: {
  readonly kind: RuleSetKind;
  readonly ruleSet: RuleSet;
  readonly editing: Editing;
}) {
  const [, navigate] = useLocation();
  const [view, setView] = useState<EditView>('form');
  const restore = (body: unknown) => {
    copy.edit(body);
    navigate(base);
  };
  return (
    <Switch>
      <Route path={base}>
        <EditTab kind={kind} ruleSetId={id} copy={copy} view={view} onView={setView} {...editing} />
      </Route>
      <Route path={`${base}/versions`}>
        <VersionsTab
          kind={kind}
          id={id}
          isReadOnly={editing.isReadOnly}
          isDirty={copy.isDirty}
          onRestore={restore}
        />
      </Route>
      <Route path={`${base}/test`}>
        <div className="px-4 pb-10 sm:px-6">
          <TestPanel kind={kind} ruleSetId={id} draft={copy.body} />
        </div>
      </Route>
      <Route path={`${base}/backtest`}>
        <div className="px-4 pb-10 sm:px-6">
          <BacktestPanel
            kind={kind}
            ruleSetId={id}
            draft={copy.body}
            savedVersion={copy.isDirty ? undefined : version}
          />
        </div>
      </Route>
      <Route>
        <Redirect to={base} replace />
      </Route>
    </Switch>
  );
}

/** The status of the rule set, and the rule sets that it is connected with. */
function RuleSetStatus({
  kind,
  ruleSet,
  copy,
  mayWrite,
}: {
  readonly kind: RuleSetKind;
  readonly ruleSet: RuleSet;
  readonly copy: { readonly isDirty: boolean; readonly isStale: boolean };
  readonly mayWrite: boolean;
}) {
  return (
    <div className="flex flex-col gap-2 px-4 pb-4 text-[13px] text-ink-soft sm:px-6">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <StatusBadges {...ruleSet} />
        {copy.isDirty && <Badge tone="accent">unsaved changes</Badge>}
        <Bindings kind={kind} ruleSet={ruleSet} />
      </div>
      {copy.isStale && (
        <p role="status" className="text-warn">
          This rule set was saved elsewhere while you edited it. Save to replace that version, or discard your
          changes to see it.
        </p>
      )}
      {ruleSet.status === 'archived' && <p>Archived rule sets cannot be changed.</p>}
      {!mayWrite && ruleSet.status !== 'archived' && (
        <p>This key lacks the permission rules:write, so you cannot change rules.</p>
      )}
    </div>
  );
}
