import type { CorrectionRules } from '@tollgate/contract';

/** A rule set and the chosen version of it. */
export interface ChosenVersion {
  readonly id: string;
  readonly version: number;
}

/** The rules of a correction as they are chosen in the dialog. */
export interface RulesChoice {
  /** Undefined for the published versions. */
  readonly extractor: ChosenVersion | undefined;
  readonly prices: 'published' | 'chosen' | 'none';
  /** With `chosen`. */
  readonly pricing: readonly ChosenVersion[];
}

export const PUBLISHED_RULES: RulesChoice = { extractor: undefined, prices: 'published', pricing: [] };

/** The rules in a request; undefined if all of them are the published ones. */
export function rulesOf({ extractor, prices, pricing }: RulesChoice): CorrectionRules | undefined {
  if (extractor === undefined && prices === 'published') return undefined;
  return {
    ...(extractor === undefined ? {} : { extractor }),
    ...(prices === 'published' ? {} : { pricing: prices === 'none' ? [] : [...pricing] }),
  };
}

/** Whether the choice can be sent: chosen prices need at least one version. */
export function isCompleteChoice({ prices, pricing }: RulesChoice): boolean {
  return prices !== 'chosen' || pricing.length > 0;
}

/** Adds or replaces the version of a rule set. An undefined version removes it. */
export function withVersion(
  chosen: readonly ChosenVersion[],
  id: string,
  version: number | undefined,
): readonly ChosenVersion[] {
  const isKnown = chosen.some((each) => each.id === id);
  if (version === undefined) return chosen.filter((each) => each.id !== id);
  if (!isKnown) return [...chosen, { id, version }];
  return chosen.map((each) => (each.id === id ? { id, version } : each));
}
