import { Link } from 'wouter';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { FailureNote, Skeleton } from '../../ui/states.js';
import { type RuleSetKind, useRuleSet } from './api.js';
import { titleOf } from './rule-set-list.js';
import { StatusBadges } from './status.js';

/** One rule set: what it says, what it said, and what can be done with it. */
export function RuleSetPage({ kind, id }: { readonly kind: RuleSetKind; readonly id: string }) {
  const { id: projectId } = useProject();
  const ruleSet = useRuleSet(kind, id);
  if (ruleSet.isError) {
    return (
      <div className="p-6">
        <FailureNote error={ruleSet.error} onRetry={() => void ruleSet.refetch()} />
      </div>
    );
  }
  if (ruleSet.data === undefined) return <Skeleton className="m-6 h-96" />;
  return (
    <PageHeader
      title={
        <>
          <Link href={`/p/${projectId}/rules`} className="font-normal text-ink-faint hover:text-ink">
            Rules /
          </Link>{' '}
          {titleOf(ruleSet.data)}
        </>
      }
      actions={<StatusBadges {...ruleSet.data} />}
    />
  );
}
