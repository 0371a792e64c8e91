import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { useProject } from '../../project.js';
import { type RuleSet, type RuleSetBody, type RuleSetKind, useRuleSetChanges } from './api.js';
import { useDimensionNames } from './bindings.js';
import type { Finding } from './finding.js';
import { findingsIn, useCheck } from './use-check.js';
import { useWorkingCopy, type WorkingCopy } from './use-working-copy.js';

/** The editing state of a rule set. */
export interface Editing {
  /** Address of the page that edits it. */
  readonly base: string;
  readonly copy: WorkingCopy;
  readonly changes: ReturnType<typeof useRuleSetChanges>;
  readonly isReadOnly: boolean;
  /** The errors of the current text. */
  readonly findings: readonly Finding[];
  /** The error of saving, if it is not about the text. */
  readonly failure: unknown;
  readonly dimensionNames: readonly string[];
  /** Saves and returns the rule set. If the service rejects it, returns undefined and shows the errors. */
  readonly save: () => Promise<RuleSet | undefined>;
}

export function useEditing(kind: RuleSetKind, ruleSet: RuleSet, isReadOnly: boolean): Editing {
  const base = `/p/${useProject().id}/rules/${kind}/${ruleSet.id}`;
  const [, navigate] = useLocation();
  const copy = useWorkingCopy(ruleSet);
  const changes = useRuleSetChanges(kind, ruleSet.id);
  const checked = useCheck(kind, copy, !isReadOnly && copy.isDirty);
  const { error, isError, variables } = changes.save;
  const refused = useMemo(() => findingsIn(error), [error]);
  // A rejection applies only to the text that was sent; later edits are checked again.
  const isRefused = isError && variables === copy.body;
  const save = async () => {
    if (!copy.isDirty) return ruleSet;
    try {
      const saved = await changes.save.mutateAsync(copy.body as RuleSetBody);
      copy.adopt(copy.text, saved);
      return saved;
    } catch {
      navigate(base);
      return undefined;
    }
  };
  return {
    ...{ base, copy, changes, isReadOnly, save },
    findings: isRefused && refused.length > 0 ? refused : checked,
    failure: isRefused && refused.length === 0 ? error : undefined,
    dimensionNames: useDimensionNames(kind, ruleSet, copy.body),
  };
}
