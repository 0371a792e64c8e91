import { useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ExtractorTemplate } from '@tollgate/contract';
import { client } from '../../../api/transport.js';
import { useProjectClient } from '../../../project.js';
import { RULES } from '../api.js';
import { readJsonObject } from '../trial/json-text.js';
import { EMPTY_EVENT, trialBody } from '../trial/trial-request.js';
import { matchesOf, type TemplateMatch } from './match.js';
import { startingPrices } from './starting-prices.js';

/** The templates, which change only with a release. */
export function useTemplates() {
  return useQuery({
    queryKey: ['templates'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await client.extractorTemplates()).templates,
  });
}

export interface Matching {
  readonly matches: readonly TemplateMatch[];
  /** Whether templates are still being tested. */
  readonly isPending: boolean;
  readonly error: unknown;
}

/** Tests every template on a text and returns the matches, best first. Idle while the text is not a JSON object. */
export function useMatches(text: string): Matching {
  const { projectId, ruleTrials } = useProjectClient();
  const templates = useTemplates().data ?? [];
  const reading = readJsonObject(text);
  const trials = useQueries({
    queries: templates.map((template) => ({
      queryKey: ['template-trial', projectId, template.id, text],
      enabled: reading.isObject,
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        ruleTrials.testText(
          trialBody({ extractor: { template_id: template.id } }, { ...EMPTY_EVENT, rawJson: text }),
          { signal },
        ),
    })),
  });
  if (!reading.isObject) return { matches: [], isPending: false, error: null };
  return {
    matches: matchesOf(
      reading.value,
      templates.map((template, index) => ({ template, result: trials[index]?.data })),
    ),
    isPending: templates.length === 0 || trials.some(({ isPending }) => isPending),
    error: trials.find(({ isError }) => isError)?.error ?? null,
  };
}

export interface NewRuleSet {
  readonly template: ExtractorTemplate;
  readonly name: string;
  /** Prices by metric; an empty text for none. */
  readonly prices: ReadonlyMap<string, string>;
  readonly currency: string;
  readonly isPublished: boolean;
}

/**
 * Creates a rule set from a template and, if there are prices, a pricing rule set for it. Both apply to events of
 * any time, because nothing existed before. The prices are published first, so that no event is rated without
 * them.
 */
export function useCreateFromTemplate() {
  const { projectId, extractorRuleSets, pricingRuleSets } = useProjectClient();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ template, name, prices, currency, isPublished }: NewRuleSet) => {
      const ruleSet = await extractorRuleSets.create({ name, template_id: template.id, effective_from: 0 });
      const pricing = startingPrices(ruleSet.id, prices, currency);
      if (pricing !== undefined) {
        const { id } = await pricingRuleSets.create(pricing);
        if (isPublished) await pricingRuleSets.publish(id);
      }
      return isPublished ? extractorRuleSets.publish(ruleSet.id) : ruleSet;
    },
    // Also after an error, because earlier steps may have succeeded.
    onSettled: () => queries.invalidateQueries({ queryKey: [RULES, projectId] }),
  });
}
