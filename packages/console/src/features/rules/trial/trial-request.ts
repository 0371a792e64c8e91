import { readJsonObject } from './json-text.js';

/** What is written down of an event, as text. */
export interface EventDraft {
  readonly rawJson: string;
  readonly subjectType: string;
  readonly subjectId: string;
  /** `x-billing` as JSON; empty for none. */
  readonly billing: string;
}

export const EMPTY_EVENT: EventDraft = { rawJson: '', subjectType: '', subjectId: '', billing: '' };

/** The parts of an event that were entered or preset. One that was emptied is there, as an empty text. */
export type GivenEvent = Partial<EventDraft>;

/**
 * The parts that are given once somebody has changed the event: those that nobody has touched stay open for
 * the preset.
 */
export function afterChange(given: GivenEvent, event: EventDraft): GivenEvent {
  return Object.fromEntries(
    Object.entries(event).filter(([part, text]) => text !== '' || Object.hasOwn(given, part)),
  );
}

/** Fills the parts that are open, unless somebody has entered an event meanwhile. */
export function afterPreset(given: GivenEvent, preset: EventDraft): GivenEvent {
  return given.rawJson === undefined ? { ...preset, ...given } : given;
}

/** Whether the texts of an event are JSON; otherwise nothing is asked. */
export function isComplete({ rawJson, billing }: EventDraft): boolean {
  return readJsonObject(rawJson).isObject && (billing.trim() === '' || readJsonObject(billing).isObject);
}

/** Whose rules are tried, as `rules/test` names them. */
export type TrialRules = Readonly<Record<string, unknown>>;

/**
 * The body of `rules/test` as text. The event is put in as it was written: a number of more digits than a double holds
 * arrives whole.
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

/** What prices a charge item that the extractor leaves without a price. */
export interface PricesChoice {
  readonly ruleSetId: string;
  readonly version: number;
}

/** The rules of an extractor draft: with the prices that were chosen, or none. */
export function extractorTrial(draft: unknown, prices: PricesChoice | undefined): TrialRules {
  return { extractor: draft, ...pricesOf(prices) };
}

/** The same for a version that was saved. */
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

/** The extractor rule set that a pricing draft is bound to; undefined while it names none. */
export function boundTo(draft: unknown): string | undefined {
  if (typeof draft !== 'object' || draft === null) return undefined;
  const id = (draft as { readonly extractor_rule_set_id?: unknown }).extractor_rule_set_id;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
