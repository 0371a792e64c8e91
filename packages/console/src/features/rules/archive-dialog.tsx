import type { ExtractorRuleSet, PricingRuleSet } from '@tollgate/contract';
import { isolated } from '../../bidi.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import type { RuleSet, RuleSetKind, useRuleSetChanges } from './api.js';
import { useBoundPricings } from './bindings.js';
import { titleOf } from './rule-set-list.js';
import { publishedVersion } from './status.js';

/** Explains what archiving ends, and archives after confirmation. It cannot be undone. */
export function ArchiveDialog({
  kind,
  ruleSet,
  change,
  onClose,
}: {
  readonly kind: RuleSetKind;
  readonly ruleSet: RuleSet;
  readonly change: ReturnType<typeof useRuleSetChanges>['archive'];
  readonly onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title={
        <>
          Archive <bdi>{titleOf(ruleSet)}</bdi>?
        </>
      }
      action="Archive permanently"
      change={change}
      isOpen
      onClose={onClose}
      onConfirm={() => change.mutate(undefined, { onSuccess: onClose })}
    >
      {kind === 'extractor' ? (
        <ExtractorConsequences extractor={ruleSet as ExtractorRuleSet} />
      ) : (
        <PricingConsequences pricing={ruleSet as PricingRuleSet} />
      )}
    </ConfirmDialog>
  );
}

function ExtractorConsequences({ extractor }: { readonly extractor: ExtractorRuleSet }) {
  const bound = useBoundPricings(extractor.id).filter((each) => publishedVersion(each) !== undefined);
  return (
    <>
      Ingest stops immediately: events that name this rule set are rejected. Events already accepted are still
      rated. This cannot be undone.
      {bound.length > 0 && (
        <span className="mt-3 block">
          Its pricing rule sets stay active: {titlesOf(bound)}. You can still correct them to reprocess failed
          events.
        </span>
      )}
    </>
  );
}

function PricingConsequences({ pricing }: { readonly pricing: PricingRuleSet }) {
  const isCost = pricing.purpose === 'cost';
  const others = useBoundPricings(pricing.extractor_rule_set_id).filter(
    (each) =>
      each.id !== pricing.id && each.purpose === pricing.purpose && publishedVersion(each) !== undefined,
  );
  if (publishedVersion(pricing) === undefined)
    return <>It was never published, so no {isCost ? 'cost' : 'price'} changes. This cannot be undone.</>;
  return (
    <>
      {isCost
        ? 'It gives no costs to events that occur from now on. Earlier events keep their costs.'
        : 'It prices no events that occur from now on. Earlier events are still priced by it.'}{' '}
      This cannot be undone.
      <span className="mt-3 block">
        {others.length > 0
          ? `Still active: ${titlesOf(others)}.`
          : isCost
            ? 'No other cost rule set is active, so charge items have no cost.'
            : 'No other pricing rule set is active, so charge items without a price of their own become unpriced.'}
      </span>
    </>
  );
}

/** The titles as a list, each isolated so that its text direction does not affect the next one. */
function titlesOf(ruleSets: readonly RuleSet[]): string {
  return ruleSets.map((each) => isolated(titleOf(each))).join(', ');
}
