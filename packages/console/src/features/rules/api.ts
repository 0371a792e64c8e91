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

/** What queries of rule sets begin with; any change of one makes all be read anew. */
export const RULES = 'rules';

/** Rule sets are found by their names, so all of them are read. */
const ENTRIES_MAX = Number.POSITIVE_INFINITY;

export type RuleSetKind = 'extractor' | 'pricing';

export type RuleSet = ExtractorRuleSet | PricingRuleSet;
export type RuleSetVersion = ExtractorRuleSetVersion | PricingRuleSetVersion;
export type RuleSetBody = ExtractorRuleSetInput | PricingRuleSetInput;

/** The requests about rule sets of one kind. */
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

/** Every extractor rule set of the project by its newest version, newest first. */
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

/** Every pricing rule set of the project by its newest version, newest first. */
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

/** A rule set by its newest version, be it a draft. */
export function useRuleSet(kind: RuleSetKind, id: string) {
  const project = useProjectClient();
  return useQuery({
    queryKey: [RULES, project.projectId, kind, id],
    queryFn: () => ruleSetsOf(project, kind).get(id),
  });
}

/** Its versions, newest first. */
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

/** Makes a rule set. What it answers is a draft. */
export function useCreateRuleSet(kind: RuleSetKind) {
  const project = useProjectClient();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: RuleSetBody) => ruleSetsOf(project, kind).create(body),
    onSuccess: () => client.invalidateQueries({ queryKey: [RULES, project.projectId] }),
  });
}

/** What can be done with a rule set. */
export function useRuleSetChanges(kind: RuleSetKind, id: string) {
  const project = useProjectClient();
  const client = useQueryClient();
  const ruleSets = ruleSetsOf(project, kind);
  const told = {
    onSuccess: (changed: RuleSet) => {
      client.setQueryData([RULES, project.projectId, kind, id], changed);
    },
    // What is shown elsewhere follows, and nobody waits for it. What was refused may have been saved before that.
    onSettled: () => {
      void client.invalidateQueries({ queryKey: [RULES, project.projectId] });
    },
  };
  const save = (body: RuleSetBody) => ruleSets.update(id, body);
  return {
    save: useMutation({ mutationFn: save, ...told }),
    publish: useMutation({
      /** Saves first where there is something to save. */
      mutationFn: async (body: RuleSetBody | undefined) => {
        if (body !== undefined) await save(body);
        return ruleSets.publish(id);
      },
      ...told,
    }),
    archive: useMutation({ mutationFn: () => ruleSets.archive(id), ...told }),
  };
}
