import type { ExtractorRuleSet, PricingRuleSet } from '@tollgate/contract';
import { isolated } from '../../bidi.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import type { RuleSet, RuleSetKind, useRuleSetChanges } from './api.js';
import { useBoundPricings } from './bindings.js';
import { titleOf } from './rule-set-list.js';
import { publishedVersion } from './status.js';

/** Says what archiving ends, and what it does not, before it is done for good. */
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
      action="Archive for good"
      change={change}
      isOpen
      onClose={onClose}
      onConfirm={() => change.mutate(undefined, { onSuccess: onClose })}
    >
      {kind === 'extractor' ? (
        <ExtractorEnd extractor={ruleSet as ExtractorRuleSet} />
      ) : (
        <PricingEnd pricing={ruleSet as PricingRuleSet} />
      )}
    </ConfirmDialog>
  );
}

function ExtractorEnd({ extractor }: { readonly extractor: ExtractorRuleSet }) {
  const bound = useBoundPricings(extractor.id).filter((each) => publishedVersion(each) !== undefined);
  return (
    <>
      Ingest for it ends at once: events that name it are refused. What was accepted before is still rated.
      There is no way back.
      {bound.length > 0 && (
        <span className="mt-3 block">
          In force for it: {titlesOf(bound)}. What prices it is not archived with it, and can still be mended
          for events that failed.
        </span>
      )}
    </>
  );
}

function PricingEnd({ pricing }: { readonly pricing: PricingRuleSet }) {
  const others = useBoundPricings(pricing.extractor_rule_set_id).filter(
    (each) => each.id !== pricing.id && publishedVersion(each) !== undefined,
  );
  if (publishedVersion(pricing) === undefined)
    return <>It was never published, so no price changes. There is no way back.</>;
  return (
    <>
      It prices nothing that occurs from now on; what occurred before is still priced by it. There is no way
      back.
      <span className="mt-3 block">
        {others.length > 0
          ? `Still in force: ${titlesOf(others)}.`
          : 'No other pricing rule set is in force: charge items without a price of their own will be unpriced.'}
      </span>
    </>
  );
}

/** One after another, each held apart: none turns the next. */
function titlesOf(ruleSets: readonly RuleSet[]): string {
  return ruleSets.map((each) => isolated(titleOf(each))).join(', ');
}
