import type { ExtractorRuleSet, PricingRuleSet } from '@tollgate/contract';
import { useMemo } from 'react';
import { useProject } from '../../project.js';
import { InlineLink } from '../../ui/inline-link.js';
import { type RuleSet, type RuleSetKind, useExtractorRuleSets, usePricingRuleSets } from './api.js';
import { hasPrice } from './price-model/model.js';
import { titleOf } from './rule-set-list.js';
import { publishedVersion } from './status.js';

/** The extractor rule set that a pricing rule set prices, or the pricing rule sets of an extractor rule set. */
export function Bindings({ kind, ruleSet }: { readonly kind: RuleSetKind; readonly ruleSet: RuleSet }) {
  return kind === 'pricing' ? (
    <BoundTo pricing={ruleSet as PricingRuleSet} />
  ) : (
    <PricedBy extractor={ruleSet as ExtractorRuleSet} />
  );
}

function BoundTo({ pricing }: { readonly pricing: PricingRuleSet }) {
  const { id: projectId } = useProject();
  const extractor = useExtractorRuleSets().data?.find(({ id }) => id === pricing.extractor_rule_set_id);
  if (extractor === undefined) return null;
  return (
    <span className="wrap-anywhere">
      {pricing.purpose === 'cost' ? 'gives costs to' : 'prices'}{' '}
      <InlineLink href={`/p/${projectId}/rules/extractor/${extractor.id}`}>{titleOf(extractor)}</InlineLink>
    </span>
  );
}

function PricedBy({ extractor }: { readonly extractor: ExtractorRuleSet }) {
  const { id: projectId } = useProject();
  const bound = useBoundPricings(extractor.id);
  const isPublished = (pricing: PricingRuleSet) => publishedVersion(pricing) !== undefined;
  const published = bound.filter(isPublished);
  const ofPurpose = (purpose: PricingRuleSet['purpose']) =>
    published.filter((each) => each.purpose === purpose);
  const drafts = bound.filter((pricing) => !isPublished(pricing));
  return (
    <>
      <PricingLinks label="priced by" pricings={ofPurpose('price')} projectId={projectId} />
      <PricingLinks label="costs by" pricings={ofPurpose('cost')} projectId={projectId} />
      <PricingLinks label="not published yet:" pricings={drafts} projectId={projectId} />
    </>
  );
}

function PricingLinks({
  label,
  pricings,
  projectId,
}: {
  readonly label: string;
  readonly pricings: readonly PricingRuleSet[];
  readonly projectId: string;
}) {
  if (pricings.length === 0) return null;
  return (
    <span className="wrap-anywhere">
      {label}{' '}
      {pricings.map((pricing, index) => (
        <span key={pricing.id}>
          {index > 0 && ', '}
          <InlineLink href={`/p/${projectId}/rules/pricing/${pricing.id}`}>{titleOf(pricing)}</InlineLink>
        </span>
      ))}
    </span>
  );
}

const NO_PRICINGS: readonly PricingRuleSet[] = [];

/** Pricing rule sets of an extractor rule set that are not archived. */
export function useBoundPricings(extractorId: string): readonly PricingRuleSet[] {
  const { data = NO_PRICINGS } = usePricingRuleSets();
  return useMemo(
    () =>
      data.filter(
        ({ extractor_rule_set_id, status }) => extractor_rule_set_id === extractorId && status !== 'archived',
      ),
    [data, extractorId],
  );
}

/** The dimensions that expressions can use: those of the extractor rule set, or of the one that is priced. */
export function useDimensionNames(kind: RuleSetKind, ruleSet: RuleSet, body: unknown): readonly string[] {
  const { data: extractors } = useExtractorRuleSets();
  const extractor =
    kind === 'extractor'
      ? body
      : extractors?.find(({ id }) => id === (ruleSet as PricingRuleSet).extractor_rule_set_id);
  const names = namesIn(extractor);
  // Returns the same array for the same names, although the body changes with every key.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text stands for the names
  return useMemo(() => names, [names.join('\n')]);
}

/** The names in a body, which may be incomplete. */
function namesIn(body: unknown): string[] {
  const dimensions = (body as Partial<ExtractorRuleSet> | null | undefined)?.dimensions;
  if (!Array.isArray(dimensions)) return [];
  return dimensions.flatMap((each: { name?: unknown } | null) =>
    typeof each?.name === 'string' ? [each.name] : [],
  );
}

/** The metrics for which the extractor rule set of a pricing body has no price of its own. */
export function useMetricsToPrice({
  extractor_rule_set_id: id,
}: Pick<PricingRuleSet, 'extractor_rule_set_id'>): string[] {
  const extractor = useExtractorRuleSets().data?.find((each) => each.id === id);
  const items = extractor?.charge_item_extractors.filter((item) => !hasPrice(item)) ?? [];
  return [...new Set(items.map(({ metric }) => metric))];
}
