import type { ExtractorRuleSet, PricingRuleSet } from '@tollgate/contract';
import { Plus, Scale } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button } from '../../ui/button.js';
import { Select, TextInput } from '../../ui/field.js';
import { InlineLink } from '../../ui/inline-link.js';
import { Menu } from '../../ui/menu.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { useExtractorRuleSets, usePricingRuleSets } from './api.js';
import { NewRuleSetDialog } from './new-rule-set-dialog.js';
import {
  grouped,
  type PurposeFilter,
  type RuleSetGroup,
  type StatusFilter,
  titleOf,
} from './rule-set-list.js';
import { PurposeBadge, StatusBadges } from './status.js';

const FILTERS: readonly { readonly value: StatusFilter; readonly label: string }[] = [
  { value: 'current', label: 'Not archived' },
  { value: 'published', label: 'Published' },
  { value: 'draft', label: 'With a draft' },
  { value: 'archived', label: 'Archived' },
  { value: 'all', label: 'All' },
];

const PURPOSES: readonly { readonly value: PurposeFilter; readonly label: string }[] = [
  { value: 'all', label: 'Prices and costs' },
  { value: 'price', label: 'Prices' },
  { value: 'cost', label: 'Costs' },
];

/** The kind of rule set to create, and optionally the extractor rule set that it prices. */
type NewRuleSetChoice =
  | { readonly kind: 'extractor' }
  | { readonly kind: 'pricing'; readonly extractorId?: string };

/** All rule sets: extractor rule sets, each with its pricing rule sets. */
export function RulesPage() {
  const [status, setStatus] = useState<StatusFilter>('current');
  const [purpose, setPurpose] = useState<PurposeFilter>('all');
  const [search, setSearch] = useState('');
  const [creating, setCreating] = useState<NewRuleSetChoice>();
  const extractors = useExtractorRuleSets();
  const pricings = usePricingRuleSets();
  const failed = [extractors, pricings].find(({ isError }) => isError);
  const isRead = extractors.data !== undefined && pricings.data !== undefined;
  const groups = isRead ? grouped(extractors.data, pricings.data, { status, purpose, search }) : [];
  const hasNone = isRead && extractors.data.length === 0;
  return (
    <>
      <PageHeader
        title="Rules"
        lead="Rule sets extract charge items from raw events. The pricing rule sets below them set prices and costs."
        actions={<NewButtons onCreate={setCreating} hasExtractor={(extractors.data?.length ?? 0) > 0} />}
      />
      <div className="flex flex-col gap-4 px-4 pb-10 sm:px-6">
        {!hasNone && (
          <search className="flex flex-wrap gap-2">
            <TextInput
              aria-label="Search rule sets"
              placeholder="Search by name"
              className="min-w-0 grow basis-40 sm:grow-0 sm:basis-60"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
            <Select aria-label="Status" options={FILTERS} value={status} onChange={setStatus} />
            <Select aria-label="Purpose" options={PURPOSES} value={purpose} onChange={setPurpose} />
          </search>
        )}
        {failed !== undefined && <ReadFailure of={failed} />}
        {!isRead && failed === undefined && <Skeleton className="h-64" />}
        {hasNone && <NoRules />}
        {isRead && !hasNone && groups.length === 0 && (
          <EmptyState title="No matching rule sets">Change the filters or the search.</EmptyState>
        )}
        {groups.map((group) => (
          <Group
            key={group.extractor.id}
            group={group}
            onPrice={(extractorId) => setCreating({ kind: 'pricing', extractorId })}
          />
        ))}
      </div>
      {creating !== undefined && (
        <NewRuleSetDialog
          {...creating}
          extractors={extractors.data ?? []}
          onClose={() => setCreating(undefined)}
        />
      )}
    </>
  );
}

function NewButtons({
  onCreate,
  hasExtractor,
}: {
  readonly onCreate: (choice: NewRuleSetChoice) => void;
  readonly hasExtractor: boolean;
}) {
  const { id } = useProject();
  const [, navigate] = useLocation();
  if (!useMay('rules:write'))
    return (
      <span className="text-xs text-ink-faint">
        This key lacks the permission rules:write, so you cannot change rules.
      </span>
    );
  return (
    <>
      {hasExtractor && <Button onClick={() => onCreate({ kind: 'pricing' })}>New pricing rule set</Button>}
      <Menu
        trigger={
          <Button look="primary">
            <Plus size={14} /> New rule set
          </Button>
        }
        items={[
          { label: 'From a template', onSelect: () => navigate(`/p/${id}/rules/new`) },
          { label: 'Blank', onSelect: () => onCreate({ kind: 'extractor' }) },
        ]}
      />
    </>
  );
}

function NoRules() {
  const { id } = useProject();
  return (
    <EmptyState
      icon={<Scale size={20} />}
      title="No rules yet"
      action={<InlineLink href={`/p/${id}/rules/new`}>Start from a template</InlineLink>}
    >
      A rule set turns raw events into charge items: who used what, how much, and at what price.
    </EmptyState>
  );
}

function Group({
  group: { extractor, pricings },
  onPrice,
}: {
  readonly group: RuleSetGroup;
  readonly onPrice: (extractorId: string) => void;
}) {
  const mayWrite = useMay('rules:write');
  return (
    <section
      aria-label={titleOf(extractor)}
      className="overflow-hidden rounded-xl border border-line bg-panel shadow-xs"
    >
      <Entry kind="extractor" ruleSet={extractor} summary={extractorSummary(extractor)} />
      {pricings.map((pricing) => (
        <Entry key={pricing.id} kind="pricing" ruleSet={pricing} summary={pricingSummary(pricing)} />
      ))}
      {pricings.length === 0 && (
        <p className="flex flex-wrap items-center gap-x-2 border-t border-line py-2 pr-4 pl-9 text-xs text-ink-faint">
          No pricing rule set yet.
          {mayWrite && extractor.status !== 'archived' && (
            <Button look="quiet" size="small" onClick={() => onPrice(extractor.id)}>
              Add pricing rule set
            </Button>
          )}
        </p>
      )}
    </section>
  );
}

function Entry({
  kind,
  ruleSet,
  summary,
}: {
  readonly kind: 'extractor' | 'pricing';
  readonly ruleSet: ExtractorRuleSet | PricingRuleSet;
  readonly summary: string;
}) {
  const { id } = useProject();
  const isPricing = kind === 'pricing';
  return (
    <div
      className={
        isPricing
          ? 'relative flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line py-2.5 pr-4 pl-9 hover:bg-sunken'
          : 'relative flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 hover:bg-sunken'
      }
    >
      <div className="min-w-0 grow basis-56">
        <Link
          href={`/p/${id}/rules/${kind}/${ruleSet.id}`}
          className={`block truncate after:absolute after:inset-0 ${isPricing ? 'text-[13px] font-medium' : 'text-sm font-semibold'}`}
        >
          {titleOf(ruleSet)}
        </Link>
        <p className="mt-0.5 truncate text-xs text-ink-faint">{summary}</p>
      </div>
      <PurposeBadge ruleSet={ruleSet} />
      <StatusBadges {...ruleSet} />
      <span className="tabular text-xs whitespace-nowrap text-ink-faint sm:w-56 sm:text-right">
        {ruleSet.published_at === null
          ? `created ${dateTime(ruleSet.created_at, 'UTC')}`
          : `published ${dateTime(ruleSet.published_at, 'UTC')}`}
      </span>
    </div>
  );
}

function extractorSummary({ charge_item_extractors: extractors, dimensions }: ExtractorRuleSet): string {
  const metrics = [...new Set(extractors.map(({ metric }) => metric))];
  const parts = [metrics.length === 0 ? 'no charge items yet' : `charges ${metrics.join(', ')}`];
  if (dimensions.length > 0) parts.push(`by ${dimensions.map(({ name }) => name).join(', ')}`);
  return parts.join(' ');
}

function pricingSummary({ purpose, rules, currency }: PricingRuleSet): string {
  return `${purpose === 'cost' ? 'costs' : 'prices'} in ${currency}, ${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`;
}
