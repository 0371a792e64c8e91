import { CORRECTION_PRICINGS_MAX, type PricingRuleSet } from '@tollgate/contract';
import { classes } from '../../ui/classes.js';
import { Field, Select } from '../../ui/field.js';
import { ReadFailure } from '../../ui/states.js';
import { type RuleSetKind, useExtractorRuleSets, usePricingRuleSets, useVersions } from '../rules/api.js';
import { type RulesChoice, withVersion } from './rules-choice.js';

const PRICES = [
  { value: 'published', label: 'As published' },
  { value: 'chosen', label: 'Chosen versions' },
  { value: 'none', label: 'No prices' },
] as const;

interface RulesFieldsProps {
  readonly choice: RulesChoice;
  readonly onChange: (choice: RulesChoice) => void;
}

/** The versions by which events are rated again. */
export function RulesFields({ choice, onChange }: RulesFieldsProps) {
  return (
    <>
      <ExtractorFields choice={choice} onChange={onChange} />
      <Field label="Prices">
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={PRICES}
            value={choice.prices}
            onChange={(prices) => onChange({ ...choice, prices })}
          />
        )}
      </Field>
      {choice.prices === 'chosen' && <PricingFields choice={choice} onChange={onChange} />}
    </>
  );
}

function ExtractorFields({ choice, onChange }: RulesFieldsProps) {
  const ruleSets = useExtractorRuleSets();
  const { extractor } = choice;
  const newest = (id: string) => ruleSets.data?.find((ruleSet) => ruleSet.id === id)?.version ?? 1;
  const options = [
    { value: '', label: 'As published' },
    ...(ruleSets.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
  if (ruleSets.isError) return <ReadFailure of={ruleSets} />;
  return (
    <div
      className={classes(
        'grid gap-4',
        extractor !== undefined && 'sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]',
      )}
    >
      <Field
        label="Extractor rules"
        hint={extractor === undefined ? undefined : 'Only events of this rule set are corrected.'}
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={options}
            value={extractor?.id ?? ''}
            onChange={(id) =>
              onChange(
                id === ''
                  ? { ...choice, extractor: undefined }
                  : // Only its own prices can be chosen with it.
                    { ...choice, extractor: { id, version: newest(id) }, pricing: [] },
              )
            }
          />
        )}
      </Field>
      {extractor !== undefined && (
        <VersionField
          kind="extractor"
          label="Version"
          id={extractor.id}
          version={extractor.version}
          onChange={(version = extractor.version) =>
            onChange({ ...choice, extractor: { id: extractor.id, version } })
          }
        />
      )}
    </div>
  );
}

function PricingFields({ choice, onChange }: RulesFieldsProps) {
  const ruleSets = usePricingRuleSets();
  if (ruleSets.isError) return <ReadFailure of={ruleSets} />;
  const all = ruleSets.data ?? [];
  const { pricing } = choice;
  const { extractor } = choice;
  const addable = all.filter(
    ({ id, extractor_rule_set_id: boundTo }) =>
      pricing.every((each) => each.id !== id) && (extractor === undefined || boundTo === extractor.id),
  );
  const put = (id: string, version: number | undefined) =>
    onChange({ ...choice, pricing: withVersion(pricing, id, version) });
  return (
    <fieldset className="flex flex-col gap-3 rounded-lg border border-line p-3">
      <legend className="px-1 text-[13px] font-medium">Pricing rule sets</legend>
      {pricing.map(({ id, version }) => (
        <VersionField
          key={id}
          kind="pricing"
          label={labelOf(all.find((ruleSet) => ruleSet.id === id)) ?? id}
          id={id}
          version={version}
          isRemovable
          onChange={(next) => put(id, next)}
        />
      ))}
      {addable.length > 0 && pricing.length < CORRECTION_PRICINGS_MAX && (
        <Select
          aria-label="Add a pricing rule set"
          className="w-full"
          options={[
            { value: '', label: 'Add a pricing rule set' },
            ...addable.map((ruleSet) => ({ value: ruleSet.id, label: labelOf(ruleSet) ?? ruleSet.id })),
          ]}
          value=""
          onChange={(id) => put(id, addable.find((ruleSet) => ruleSet.id === id)?.version)}
        />
      )}
      <p className="text-xs text-ink-faint">
        These replace all others of their extractor rules with the same purpose: prices, or costs. A charge
        item that none of them prices has no price. Events of other extractor rules keep the published prices.
      </p>
    </fieldset>
  );
}

function labelOf(ruleSet: PricingRuleSet | undefined): string | undefined {
  return ruleSet && (ruleSet.purpose === 'cost' ? `${ruleSet.name} (costs)` : ruleSet.name);
}

const REMOVED = 'removed';

function VersionField({
  kind,
  label,
  id,
  version,
  isRemovable = false,
  onChange,
}: {
  readonly kind: RuleSetKind;
  readonly label: string;
  readonly id: string;
  readonly version: number;
  readonly isRemovable?: boolean;
  /** Gets undefined to remove the rule set. */
  readonly onChange: (version: number | undefined) => void;
}) {
  const versions = useVersions(kind, id);
  const known = versions.data ?? [{ version, status: '' }];
  const options = [
    ...known.map((each) => ({
      value: String(each.version),
      label: `${each.version}${each.status === '' ? '' : ` (${each.status})`}`,
    })),
    ...(isRemovable ? [{ value: REMOVED, label: 'Remove' }] : []),
  ];
  return (
    <Field label={label}>
      {(control) => (
        <Select
          {...control}
          className="w-full"
          options={options}
          value={String(version)}
          onChange={(chosen) => onChange(chosen === REMOVED ? undefined : Number(chosen))}
        />
      )}
    </Field>
  );
}
