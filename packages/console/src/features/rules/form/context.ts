import { createContext, useContext } from 'react';
import type { Finding } from '../finding.js';

/** What every field of the form needs to know. */
export interface RulesForm {
  readonly findings: readonly Finding[];
  readonly isReadOnly: boolean;
  /** Offered behind `dimensions.` in expressions. */
  readonly dimensionNames: readonly string[];
}

export const RulesFormContext = createContext<RulesForm>({
  findings: [],
  isReadOnly: true,
  dimensionNames: [],
});

export function useRulesForm(): RulesForm {
  return useContext(RulesFormContext);
}

/** What is wrong at a place of the body itself. */
export function useFindingAt(path: string): string | undefined {
  return useRulesForm().findings.find((finding) => finding.path === path)?.message;
}
