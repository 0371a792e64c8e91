import { useMemo, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { useMe } from '../../api/session.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { Badge } from '../../ui/badge.js';
import { FailureNote, Skeleton } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { UnsavedGuard } from '../../ui/unsaved-guard.js';
import { type RuleSet, type RuleSetBody, type RuleSetKind, useRuleSet, useRuleSetChanges } from './api.js';
import { Bindings, useDimensionNames } from './bindings.js';
import { EditTab, type EditView } from './edit-tab.js';
import { RuleSetActions } from './rule-set-actions.js';
import { titleOf } from './rule-set-list.js';
import { StatusBadges } from './status.js';
import { BacktestPanel, TestPanel } from './trial/index.js';
import { findingsIn, useCheck } from './use-check.js';
import { useWorkingCopy } from './use-working-copy.js';
import { VersionsTab } from './versions-tab.js';

export interface RuleSetRef {
  readonly kind: RuleSetKind;
  readonly id: string;
}

/** One rule set: what it says, what it said, and what can be done with it. */
export function RuleSetPage({ kind, id }: RuleSetRef) {
  const ruleSet = useRuleSet(kind, id);
  if (ruleSet.isError) {
    return (
      <div className="p-6">
        <FailureNote error={ruleSet.error} onRetry={() => void ruleSet.refetch()} />
      </div>
    );
  }
  if (ruleSet.data === undefined) return <Skeleton className="m-6 h-96" />;
  return <LoadedPage kind={kind} ruleSet={ruleSet.data} />;
}

function LoadedPage({ kind, ruleSet }: { readonly kind: RuleSetKind; readonly ruleSet: RuleSet }) {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  const mayWrite = useMe().permissions.includes('rules:write');
  const copy = useWorkingCopy(ruleSet);
  const changes = useRuleSetChanges(kind, ruleSet.id);
  const [view, setView] = useState<EditView>('form');
  const isReadOnly = !mayWrite || ruleSet.status === 'archived';
  const checked = useCheck(kind, copy.body, !isReadOnly && copy.isDirty);
  const refused = useMemo(() => findingsIn(changes.save.error), [changes.save.error]);
  const isRefusalCurrent = changes.save.isError && changes.save.variables === copy.body;
  const findings = isRefusalCurrent && refused.length > 0 ? refused : checked;
  const dimensionNames = useDimensionNames(kind, ruleSet, copy.body);
  const base = `/p/${projectId}/rules/${kind}/${ruleSet.id}`;

  const save = async (): Promise<RuleSet | undefined> => {
    if (!copy.isDirty) return ruleSet;
    try {
      const saved = await changes.save.mutateAsync(copy.body as RuleSetBody);
      copy.adopt(copy.text, saved);
      return saved;
    } catch {
      // What it was refused for is shown where it is wrong.
      navigate(base);
      return undefined;
    }
  };
  return (
    <>
      <UnsavedGuard isDirty={copy.isDirty} keptBelow={base} />
      <PageHeader
        title={
          <>
            <Link href={`/p/${projectId}/rules`} className="font-normal text-ink-faint hover:text-ink">
              Rules /
            </Link>{' '}
            {titleOf(ruleSet)}
          </>
        }
        actions={
          !isReadOnly && (
            <RuleSetActions
              kind={kind}
              ruleSet={ruleSet}
              copy={copy}
              changes={changes}
              hasFindings={findings.length > 0}
              onSave={save}
            />
          )
        }
      />
      <Standing kind={kind} ruleSet={ruleSet} copy={copy} mayWrite={mayWrite} />
      <Tabs
        label="Rule set"
        tabs={[
          { label: 'Edit', href: base },
          { label: 'Versions', href: `${base}/versions` },
          { label: 'Test', href: `${base}/test` },
          { label: 'Backtest', href: `${base}/backtest` },
        ]}
      />
      <Switch>
        <Route path={base}>
          <EditTab
            {...{ kind, copy, findings, dimensionNames, isReadOnly, view }}
            failure={isRefusalCurrent && refused.length === 0 ? changes.save.error : undefined}
            onView={setView}
          />
        </Route>
        <Route path={`${base}/versions`}>
          <VersionsTab
            {...{ kind, id: ruleSet.id, isReadOnly }}
            isDirty={copy.isDirty}
            onRestore={(body) => {
              copy.edit(body);
              navigate(base);
            }}
          />
        </Route>
        <Route path={`${base}/test`}>
          <TestPanel kind={kind} ruleSetId={ruleSet.id} draft={copy.body} />
        </Route>
        <Route path={`${base}/backtest`}>
          <BacktestPanel kind={kind} ruleSetId={ruleSet.id} draft={copy.body} />
        </Route>
        <Route>
          <Redirect to={base} replace />
        </Route>
      </Switch>
    </>
  );
}

/** Where the rule set stands, and what it belongs to. */
function Standing({
  kind,
  ruleSet,
  copy,
  mayWrite,
}: {
  readonly kind: RuleSetKind;
  readonly ruleSet: RuleSet;
  readonly copy: { readonly isDirty: boolean; readonly isOutrun: boolean };
  readonly mayWrite: boolean;
}) {
  return (
    <div className="-mt-2 flex flex-col gap-2 px-4 pb-4 text-[13px] text-ink-soft sm:px-6">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <StatusBadges {...ruleSet} />
        {copy.isDirty && <Badge tone="accent">unsaved changes</Badge>}
        <Bindings kind={kind} ruleSet={ruleSet} />
      </div>
      {copy.isOutrun && (
        <p role="status" className="text-warn">
          It was saved elsewhere since you began. Saving replaces that; Discard shows it.
        </p>
      )}
      {ruleSet.status === 'archived' && <p>Archived: it can be looked at, not changed.</p>}
      {!mayWrite && ruleSet.status !== 'archived' && <p>This key may read rules, not change them.</p>}
    </div>
  );
}
