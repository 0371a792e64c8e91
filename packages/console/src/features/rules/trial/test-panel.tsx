import { useEffect, useMemo, useState } from 'react';
import { Select } from '../../../ui/field.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { useSettled } from '../../../ui/use-settled.js';
import type { RuleSetKind } from '../api.js';
import { useTemplates } from '../templates/api.js';
import {
  type Trial,
  useBoundPrices,
  useKeptEvent,
  usePublishedVersion,
  useReadEvent,
  useRecentEvents,
  useTrial,
} from './api.js';
import { EventEditor, eventDraft } from './event-editor.js';
import { PublishedComparison } from './published-comparison.js';
import { TotalsFields } from './totals-fields.js';
import {
  afterChange,
  afterPreset,
  boundTo,
  countersIn,
  EMPTY_EVENT,
  type EventDraft,
  extractorTrial,
  type GivenEvent,
  type GivenTotals,
  isComplete,
  type PricesChoice,
  savedExtractorTrial,
  type TrialRules,
  withTotals,
} from './trial-request.js';
import { TrialResult } from './trial-result.js';
import { unusedExtractors, unusedPricingRules } from './unused-rules.js';

export interface PanelProps {
  readonly kind: RuleSetKind;
  readonly ruleSetId: string;
  /** The body as edited; undefined while it is not valid JSON. */
  readonly draft: unknown;
}

/** Tests the draft on an event, and shows the result while the user edits either. */
export function TestPanel({ kind, ruleSetId, draft }: PanelProps) {
  const extractorId = kind === 'extractor' ? ruleSetId : boundTo(draft);
  const [event, setEvent] = usePresetEvent(extractorId, draft);
  const recent = useRecentEvents(extractorId);
  const prices = usePrices(kind === 'extractor' ? ruleSetId : undefined);
  const [totals, setTotals] = useState<GivenTotals>({});
  const counters = countersIn(draft, prices.set);
  const trialRules = useTrialRules({ kind, ruleSetId, draft }, prices.chosen);
  const rules = {
    draft: withTotals(trialRules.draft, counters, totals),
    published: withTotals(trialRules.published, counters, totals),
  };
  return (
    <div className="grid gap-8 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-6">
        <EventEditor event={event} onChange={setEvent} recent={recent.data ?? []} />
        <TotalsFields counters={counters} totals={totals} onChange={setTotals} />
      </div>
      <section aria-label="Result" className="flex min-w-0 flex-col gap-4">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <h3 className="mr-auto text-[13px] font-semibold">Result</h3>
          {prices.options.length > 1 && (
            <Select
              aria-label="Prices for the test"
              className="max-w-80 min-w-0"
              options={prices.options}
              value={prices.value}
              onChange={prices.choose}
            />
          )}
        </div>
        {prices.publishedCount > 1 && (
          <p className="text-xs text-ink-faint">
            {prices.publishedCount} published pricing rule sets price these items together. A test uses only
            one of them.
          </p>
        )}
        <TestResult kind={kind} rules={rules.draft} event={event} />
        <PublishedComparison draft={rules.draft} published={rules.published} event={event} />
      </section>
    </div>
  );
}

function TestResult({
  kind,
  rules,
  event,
}: {
  readonly kind: RuleSetKind;
  readonly rules: TrialRules | undefined;
  readonly event: EventDraft;
}) {
  const settledRules = useSettled(rules);
  const settledEvent = useSettled(event);
  const trial = useTrial(settledRules, settledEvent);
  const last = useLastTrial(trial.data);
  const isWaiting =
    trial.isPlaceholderData || trial.isFetching || settledRules !== rules || settledEvent !== event;
  if (rules === undefined) {
    return (
      <>
        <p role="status" className="text-[13px] text-warn">
          The rules are not valid JSON.
        </p>
        {last !== undefined && <Shown kind={kind} trial={last} isOld />}
      </>
    );
  }
  if (!isComplete(event)) {
    return (
      <>
        <p className="text-[13px] text-ink-soft">Paste an event to test these rules.</p>
        {last !== undefined && <Shown kind={kind} trial={last} isOld />}
      </>
    );
  }
  return (
    <>
      {trial.isError && <ReadFailure of={trial} />}
      {last === undefined && !trial.isError && <Skeleton className="h-64" />}
      {last !== undefined && <Shown kind={kind} trial={last} isOld={isWaiting || trial.isError} />}
    </>
  );
}

function Shown({
  kind,
  trial: { rules, result },
  isOld,
}: {
  readonly kind: RuleSetKind;
  readonly trial: Trial;
  readonly isOld: boolean;
}) {
  // If the event fails, rating stops, so nothing is known about later rules.
  const isRated = result.errors.length === 0;
  const unused = !isRated
    ? []
    : kind === 'extractor'
      ? unusedExtractors(rules.extractor, result.charge_items)
      : unusedPricingRules(rules.pricing, result.charge_items);
  return (
    <TrialResult
      result={result}
      unused={unused}
      unusedTitle={kind === 'extractor' ? 'Extractors without a charge item' : 'Unused pricing rules'}
      isOld={isOld}
    />
  );
}

/** The last result, which stays while the input is invalid. */
function useLastTrial(trial: Trial | undefined): Trial | undefined {
  const [last, setLast] = useState(trial);
  if (trial !== undefined && trial !== last) setLast(trial);
  return trial ?? last;
}

interface RulesToTest {
  readonly draft: TrialRules | undefined;
  readonly published: TrialRules | undefined;
}

function useTrialRules(
  { kind, ruleSetId, draft }: PanelProps,
  prices: PricesChoice | undefined,
): RulesToTest {
  const published = usePublishedVersion(kind, ruleSetId).data ?? undefined;
  const extractorId = boundTo(draft);
  const extractorVersion = usePublishedVersion('extractor', kind === 'pricing' ? extractorId : undefined);
  if (kind === 'extractor') {
    return {
      draft: draft === undefined ? undefined : extractorTrial(draft, prices),
      published: published === undefined ? undefined : savedExtractorTrial(ruleSetId, published, prices),
    };
  }
  if (extractorId === undefined) return { draft: undefined, published: undefined };
  const version = extractorVersion.data ?? undefined;
  const extractor = { extractor_rule_set_id: extractorId, ...(version === undefined ? {} : { version }) };
  return {
    draft: { ...extractor, pricing: draft },
    published:
      published === undefined
        ? undefined
        : { ...extractor, pricing_rule_set_id: ruleSetId, pricing_version: published },
  };
}

const NO_PRICES = 'none';

/** The pricing rule sets to choose from for a test of an extractor. The default is the first published one. */
function usePrices(extractorRuleSetId: string | undefined) {
  const bound = useBoundPrices(extractorRuleSetId);
  const [value, choose] = useState<string>();
  const sets = bound.data ?? [];
  const options = [
    ...sets.map(({ id, name, version, status }) => ({
      value: `${id} ${version}`,
      label: `${name === '' ? id : name}, version ${version}${status === 'draft' ? ' (draft)' : ''}`,
    })),
    { value: NO_PRICES, label: 'Without prices' },
  ];
  const shown = value ?? options[0]?.value ?? NO_PRICES;
  const set = sets.find(({ id, version }) => `${id} ${version}` === shown);
  const chosen = set === undefined ? undefined : { ruleSetId: set.id, version: set.version };
  const publishedCount = sets.filter(({ status }) => status === 'published').length;
  return { options, value: shown, choose, chosen, set, publishedCount };
}

const NOTHING: GivenEvent = {};

/** The test event. By default the newest event of the rule set or, without events, a sample of its template. */
function usePresetEvent(extractorId: string | undefined, draft: unknown) {
  const [given = NOTHING, change] = useKeptEvent(extractorId);
  const recent = useRecentEvents(extractorId);
  const templates = useTemplates();
  const read = useReadEvent();
  const newest = recent.data?.[0]?.raw_event_id;
  const templateId = templateOf(draft);
  const sample = templates.data?.find(({ id }) => id === templateId)?.samples[0]?.raw_json;
  const hasNoEvents = recent.data !== undefined ? recent.data.length === 0 : recent.fetchStatus === 'idle';
  const { mutate } = read;
  // A subject that was entered before the event is loaded does not prevent loading it.
  const hasEvent = given.rawJson !== undefined;
  useEffect(() => {
    if (newest === undefined || hasEvent) return;
    mutate(newest, { onSuccess: (detail) => change((now) => afterPreset(now, eventDraft(detail))) });
  }, [newest, hasEvent, mutate, change]);
  useEffect(() => {
    if (!hasNoEvents || sample === undefined) return;
    change((now) => afterPreset(now, { ...EMPTY_EVENT, rawJson: JSON.stringify(sample, null, 2) }));
  }, [hasNoEvents, sample, change]);
  const event = useMemo(() => ({ ...EMPTY_EVENT, ...given }), [given]);
  const setEvent = (next: EventDraft) => change((now) => afterChange(now, next));
  return [event, setEvent] as const;
}

function templateOf(draft: unknown): string | undefined {
  if (typeof draft !== 'object' || draft === null) return undefined;
  const id = (draft as { readonly template_id?: unknown }).template_id;
  return typeof id === 'string' ? id : undefined;
}
