import { readJsonObject } from './json-text.js';

/** The state of the event editor: texts. */
export interface EventDraft {
  readonly rawJson: string;
  readonly subjectType: string;
  readonly subjectId: string;
  /** `x-billing` as JSON; empty for none. */
  readonly billing: string;
}

export const EMPTY_EVENT: EventDraft = { rawJson: '', subjectType: '', subjectId: '', billing: '' };

/** The parts of an event that were entered or preset. A part that was cleared is an empty text. */
export type GivenEvent = Partial<EventDraft>;

/**
 * The given parts after a change of the event. Parts that the user has not touched stay open for the preset.
 */
export function afterChange(given: GivenEvent, event: EventDraft): GivenEvent {
  return Object.fromEntries(
    Object.entries(event).filter(([part, text]) => text !== '' || Object.hasOwn(given, part)),
  );
}

/** Fills the open parts with the preset, unless the user has entered an event in the meantime. */
export function afterPreset(given: GivenEvent, preset: EventDraft): GivenEvent {
  return given.rawJson === undefined ? { ...preset, ...given } : given;
}

/** Whether the texts of an event are valid JSON, so that it can be sent. */
export function isComplete({ rawJson, billing }: EventDraft): boolean {
  return readJsonObject(rawJson).isObject && (billing.trim() === '' || readJsonObject(billing).isObject);
}

/** The rules of a test, as fields of a `rules/test` request. */
export type TrialRules = Readonly<Record<string, unknown>>;

/**
 * The body of `rules/test` as text. The event is inserted as it was written, so that its numbers keep all digits.
 *
 * @param event one that `isComplete`
 */
export function trialBody(rules: TrialRules, event: EventDraft): string {
  const fields = [`"raw_json":${event.rawJson}`];
  if (event.billing.trim() !== '') fields.push(`"x-billing":${event.billing}`);
  if (event.subjectType !== '') fields.push(`"subject_type":${JSON.stringify(event.subjectType)}`);
  if (event.subjectId !== '') fields.push(`"subject_id":${JSON.stringify(event.subjectId)}`);
  const named = JSON.stringify(rules).slice(1, -1);
  return `{${named}${named === '' ? '' : ','}"event":{${fields.join(',')}}}`;
}

/** The pricing rule set that prices charge items without a price of the extractor. */
export interface PricesChoice {
  readonly ruleSetId: string;
  readonly version: number;
}

/** The rules to test an extractor draft, with the chosen prices or none. */
export function extractorTrial(draft: unknown, prices: PricesChoice | undefined): TrialRules {
  return { extractor: draft, ...pricesOf(prices) };
}

/** The rules to test a saved version. */
export function savedExtractorTrial(
  ruleSetId: string,
  version: number,
  prices: PricesChoice | undefined,
): TrialRules {
  return { extractor_rule_set_id: ruleSetId, version, ...pricesOf(prices) };
}

function pricesOf(prices: PricesChoice | undefined): TrialRules {
  return prices === undefined
    ? { pricing: { rules: [] } }
    : { pricing_rule_set_id: prices.ruleSetId, pricing_version: prices.version };
}

/** The extractor rule set that a pricing draft prices; undefined while it names none. */
export function boundTo(draft: unknown): string | undefined {
  if (typeof draft !== 'object' || draft === null) return undefined;
  const id = (draft as { readonly extractor_rule_set_id?: unknown }).extractor_rule_set_id;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The names of the counters in drafts, which may be incomplete, in the order of their rules. */
export function countersIn(...drafts: readonly unknown[]): string[] {
  const names = drafts.flatMap((draft) => {
    const { rules, charge_item_extractors: items } = (draft ?? {}) as Readonly<Record<string, unknown>>;
    return [items, rules].flatMap((entries) => (Array.isArray(entries) ? entries.map(counterOf) : []));
  });
  return [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[];
}

function counterOf(entry: { readonly cumulative?: { readonly counter?: unknown } | null } | null): unknown {
  const name = entry?.cumulative?.counter;
  return typeof name === 'string' ? name : undefined;
}

/** Totals before the event by counter, as they were entered. */
export type GivenTotals = Readonly<Record<string, string>>;

const TOTAL = /^\d{1,20}(\.\d{1,18})?$/;

export function isTotal(text: string): boolean {
  return TOTAL.test(text);
}

/** Adds the totals that were entered for counters of the rules. */
export function withTotals(
  rules: TrialRules | undefined,
  counters: readonly string[],
  given: GivenTotals,
): TrialRules | undefined {
  const totals = counters.flatMap((counter) => {
    const text = given[counter] ?? '';
    return isTotal(text) ? [[counter, text]] : [];
  });
  return rules === undefined || totals.length === 0
    ? rules
    : { ...rules, totals: Object.fromEntries(totals) as GivenTotals };
}
