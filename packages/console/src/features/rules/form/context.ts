import { createContext, useContext } from 'react';
import type { Finding } from '../finding.js';

/** Shared state of all form fields. */
export interface RulesForm {
  readonly ruleSetId: string;
  readonly findings: readonly Finding[];
  readonly isReadOnly: boolean;
  /** Completions after `dimensions.` in expressions. */
  readonly dimensionNames: readonly string[];
}

export const RulesFormContext = createContext<RulesForm>({
  ruleSetId: '',
  findings: [],
  isReadOnly: true,
  dimensionNames: [],
});

export function useRulesForm(): RulesForm {
  return useContext(RulesFormContext);
}

/** The error at a path of the body. */
export function useFindingAt(path: string): string | undefined {
  return useRulesForm().findings.find((finding) => finding.path === path)?.message;
}
