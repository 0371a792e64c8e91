import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ExtractorRuleSet,
  ExtractorRuleSetInput,
  ExtractorRuleSetVersion,
  PricingRuleSet,
  PricingRuleSetInput,
  PricingRuleSetVersion,
} from '@tollgate/contract';
import type { ProjectClient } from '@tollgate/sdk/browser';
import { everyPage } from '../../api/every-page.js';
import { useProjectClient } from '../../project.js';

/** First part of the query keys of rule sets. After any change of a rule set, all of them are fetched again. */
export const RULES = 'rules';

/** All rule sets are fetched, because they are searched by name. */
const ENTRIES_MAX = Number.POSITIVE_INFINITY;

export type RuleSetKind = 'extractor' | 'pricing';

export type RuleSet = ExtractorRuleSet | PricingRuleSet;
export type RuleSetVersion = ExtractorRuleSetVersion | PricingRuleSetVersion;
export type RuleSetBody = ExtractorRuleSetInput | PricingRuleSetInput;

/** The API operations of one kind of rule sets. */
interface RuleSets {
  create(body: RuleSetBody): Promise<RuleSet>;
  get(id: string): Promise<RuleSet>;
  versions(
    id: string,
    page: { readonly limit: number; readonly offset?: number },
    options?: { readonly signal: AbortSignal },
  ): Promise<{ readonly versions: readonly RuleSetVersion[]; readonly total_count: number }>;
  update(id: string, body: RuleSetBody): Promise<RuleSet>;
  publish(id: string): Promise<RuleSet>;
  archive(id: string): Promise<RuleSet>;
}

export function ruleSetsOf(project: ProjectClient, kind: RuleSetKind): RuleSets {
  return kind === 'extractor' ? project.extractorRuleSets : project.pricingRuleSets;
}

/** The newest versions of all extractor rule sets of the project, newest first. */
export function useExtractorRuleSets() {
  const { projectId, extractorRuleSets } = useProjectClient();
  return useQuery({
    queryKey: [RULES, projectId, 'extractors'],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => extractorRuleSets.list(page, { signal }),
        (page) => page.extractor_rule_sets,
        ENTRIES_MAX,
      ),
  });
}

/** The newest versions of all pricing rule sets of the project, newest first. */
export function usePricingRuleSets() {
  const { projectId, pricingRuleSets } = useProjectClient();
  return useQuery({
    queryKey: [RULES, projectId, 'pricings'],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => pricingRuleSets.list(page, { signal }),
        (page) => page.pricing_rule_sets,
        ENTRIES_MAX,
      ),
  });
}

/** The newest version of a rule set, which may be a draft. */
export function useRuleSet(kind: RuleSetKind, id: string) {
  const project = useProjectClient();
  return useQuery({
    queryKey: [RULES, project.projectId, kind, id],
    queryFn: () => ruleSetsOf(project, kind).get(id),
  });
}

/** The versions of a rule set, newest first. */
export function useVersions(kind: RuleSetKind, id: string) {
  const project = useProjectClient();
  return useQuery({
    queryKey: [RULES, project.projectId, kind, id, 'versions'],
    queryFn: ({ signal }) =>
      everyPage(
        (page) => ruleSetsOf(project, kind).versions(id, page, { signal }),
        (page) => page.versions,
        ENTRIES_MAX,
      ),
  });
}

/** Creates a rule set as a draft. */
export function useCreateRuleSet(kind: RuleSetKind) {
  const project = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: RuleSetBody) => ruleSetsOf(project, kind).create(body),
    onSuccess: () => client.invalidateQueries({ queryKey: [RULES, project.projectId] }),
  });
}

/** Changes of a rule set. */
export function useRuleSetChanges(kind: RuleSetKind, id: string) {
  const project = useProjectClient();
  const client = useQueryClient();
  const ruleSets = ruleSetsOf(project, kind);
  const handlers = {
    onSuccess: (changed: RuleSet) => {
      client.setQueryData([RULES, project.projectId, kind, id], changed);
    },
    // Refreshes other views in the background, also after an error, because the draft may have been saved before it.
    onSettled: () => {
      void client.invalidateQueries({ queryKey: [RULES, project.projectId] });
    },
  };
  const save = (body: RuleSetBody) => ruleSets.update(id, body);
  return {
    save: useMutation({ mutationFn: save, ...handlers }),
    publish: useMutation({
      /** Saves the body first, if there is one. */
      mutationFn: async (body: RuleSetBody | undefined) => {
        if (body !== undefined) await save(body);
        return ruleSets.publish(id);
      },
      ...handlers,
    }),
    archive: useMutation({ mutationFn: () => ruleSets.archive(id), ...handlers }),
  };
}
