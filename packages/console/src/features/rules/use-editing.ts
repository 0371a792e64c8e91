import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { useProject } from '../../project.js';
import { type RuleSet, type RuleSetBody, type RuleSetKind, useRuleSetChanges } from './api.js';
import { useDimensionNames } from './bindings.js';
import type { Finding } from './finding.js';
import { findingsIn, useCheck } from './use-check.js';
import { useWorkingCopy, type WorkingCopy } from './use-working-copy.js';

/** A rule set under one's hands. */
export interface Editing {
  /** Address of the page that edits it. */
  readonly base: string;
  readonly copy: WorkingCopy;
  readonly changes: ReturnType<typeof useRuleSetChanges>;
  readonly isReadOnly: boolean;
  /** What is wrong with it as it is now. */
  readonly findings: readonly Finding[];
  /** What saving failed with, other than findings. */
  readonly failure: unknown;
  readonly dimensionNames: readonly string[];
  /** Yields what is saved now; undefined where it was refused, which is then shown where it is wrong. */
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
  // A refusal is about what was sent: what is typed after it is checked anew.
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
