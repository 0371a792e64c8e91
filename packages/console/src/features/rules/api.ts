import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ExtractorRuleSet,
  ExtractorRuleSetInput,
  ExtractorRuleSetVersion,
  PricingRuleSet,
  PricingRuleSetInput,
  PricingRuleSetVersion,
} from '@tollgate/contract';
import { request, withQuery } from '../../api/client.js';
import { useProjectPath } from '../../project.js';

/** What queries of rule sets begin with; any change of one makes all be read anew. */
export const RULES = 'rules';
const PAGE_SIZE = 100;

export type RuleSetKind = 'extractor' | 'pricing';

export const SEGMENTS: Readonly<Record<RuleSetKind, string>> = {
  extractor: 'extractor-rule-sets',
  pricing: 'pricing-rule-sets',
};

export type RuleSet = ExtractorRuleSet | PricingRuleSet;
export type RuleSetVersion = ExtractorRuleSetVersion | PricingRuleSetVersion;
export type RuleSetBody = ExtractorRuleSetInput | PricingRuleSetInput;

interface Page {
  readonly total_count: number;
}

/** All entries of a list, page by page: rule sets are few, and found by their names. */
async function readAll<Entry>(
  path: string,
  entriesOf: (page: Page) => readonly Entry[],
  signal: AbortSignal,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const page = await request<Page>('GET', withQuery(path, { limit: PAGE_SIZE, offset: entries.length }), {
      signal,
    });
    const more = entriesOf(page);
    entries.push(...more);
    if (more.length === 0 || entries.length >= page.total_count) return entries;
  }
}

/** Every extractor rule set of the project by its newest version, newest first. */
export function useExtractorRuleSets() {
  const project = useProjectPath();
  return useQuery({
    queryKey: [RULES, project, 'extractors'],
    queryFn: ({ signal }) =>
      readAll(
        `${project}/${SEGMENTS.extractor}`,
        (page) => (page as Page & { extractor_rule_sets: ExtractorRuleSet[] }).extractor_rule_sets,
        signal,
      ),
  });
}

/** Every pricing rule set of the project by its newest version, newest first. */
export function usePricingRuleSets() {
  const project = useProjectPath();
  return useQuery({
    queryKey: [RULES, project, 'pricings'],
    queryFn: ({ signal }) =>
      readAll(
        `${project}/${SEGMENTS.pricing}`,
        (page) => (page as Page & { pricing_rule_sets: PricingRuleSet[] }).pricing_rule_sets,
        signal,
      ),
  });
}

/** A rule set by its newest version, be it a draft. */
export function useRuleSet(kind: RuleSetKind, id: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [RULES, project, kind, id],
    queryFn: () => request<RuleSet>('GET', `${project}/${SEGMENTS[kind]}/${id}`),
  });
}

/** Its versions, newest first. */
export function useVersions(kind: RuleSetKind, id: string) {
  const project = useProjectPath();
  return useQuery({
    queryKey: [RULES, project, kind, id, 'versions'],
    queryFn: ({ signal }) =>
      readAll(
        `${project}/${SEGMENTS[kind]}/${id}/versions`,
        (page) => (page as Page & { versions: RuleSetVersion[] }).versions,
        signal,
      ),
  });
}

/** Makes a rule set. What it answers is a draft. */
export function useCreateRuleSet(kind: RuleSetKind) {
  const project = useProjectPath();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: RuleSetBody) => request<RuleSet>('POST', `${project}/${SEGMENTS[kind]}`, { body }),
    onSuccess: () => client.invalidateQueries({ queryKey: [RULES, project] }),
  });
}

/** What can be done with a rule set. */
export function useRuleSetChanges(kind: RuleSetKind, id: string) {
  const project = useProjectPath();
  const client = useQueryClient();
  const path = `${project}/${SEGMENTS[kind]}/${id}`;
  const told = {
    onSuccess: (changed: RuleSet) => {
      client.setQueryData([RULES, project, kind, id], changed);
    },
    // What is shown elsewhere follows, and nobody waits for it. What was refused may have been saved before that.
    onSettled: () => {
      void client.invalidateQueries({ queryKey: [RULES, project] });
    },
  };
  const save = (body: RuleSetBody) => request<RuleSet>('PUT', path, { body });
  return {
    save: useMutation({ mutationFn: save, ...told }),
    publish: useMutation({
      /** Saves first where there is something to save. */
      mutationFn: async (body: RuleSetBody | undefined) => {
        if (body !== undefined) await save(body);
        return request<RuleSet>('POST', `${path}/publish`);
      },
      ...told,
    }),
    archive: useMutation({ mutationFn: () => request<RuleSet>('POST', `${path}/archive`), ...told }),
  };
}
