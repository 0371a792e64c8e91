import type { BacktestRequest } from '@tollgate/contract';
import { monthAt } from '../../boards/buckets.js';
import { rangeLabel } from '../../boards/time-range.js';
import type { RuleSetKind } from '../api.js';
import { boundTo } from './trial-request.js';

export const PERIODS = [
  { value: '86400', label: 'Last 24 hours' },
  { value: '604800', label: 'Last 7 days' },
  { value: '2592000', label: 'Last 30 days' },
  { value: '7776000', label: 'Last 90 days' },
  { value: 'this-month', label: 'This month (UTC)' },
  { value: 'last-month', label: 'Last month (UTC)' },
] as const;
/** Seconds, or a calendar month: prices by the totals of months can only be applied to whole ones. */
export type Period = (typeof PERIODS)[number]['value'];

export const SHARES = [
  { value: '1', label: 'All events' },
  { value: '0.1', label: '1 in 10 events' },
  { value: '0.01', label: '1 in 100 events' },
] as const;
export type Share = (typeof SHARES)[number]['value'];

/** The rule set as edited. */
export interface EditedRules {
  readonly kind: RuleSetKind;
  readonly ruleSetId: string;
  /** Undefined while it is not valid JSON. */
  readonly draft: unknown;
  /** The version that is saved; undefined while there are unsaved edits. */
  readonly savedVersion: number | undefined;
}

/** Whether the rules can be backtested: an extractor if it is valid JSON, and prices if they name an extractor, too. */
export function canBacktest(rules: EditedRules): boolean {
  return extractorIdOf(rules) !== undefined;
}

/** Returns the rule set on whose events rules are tested; undefined if they name none, or are not valid JSON. */
function extractorIdOf({ kind, ruleSetId, draft }: EditedRules): string | undefined {
  if (draft === undefined) return undefined;
  return kind === 'extractor' ? ruleSetId : boundTo(draft);
}

/**
 * The request of a backtest on the events of an extractor rule set; undefined while a draft names none or is not valid
 * JSON. It names rules that are saved, because others have no counters whose prices could be applied.
 */
export function backtestBody(
  rules: EditedRules,
  period: Period,
  share: Share,
  nowS: number,
): BacktestRequest | undefined {
  const { kind, ruleSetId, draft, savedVersion } = rules;
  const extractorId = extractorIdOf(rules);
  if (extractorId === undefined) return undefined;
  return {
    extractor_rule_set_id: extractorId,
    ...(savedVersion === undefined
      ? // Unchecked user input, which the service validates.
        { [kind]: draft }
      : savedRules(kind, ruleSetId, savedVersion)),
    time_range: timeRange(period, nowS),
    ...(share === '1' ? {} : { sample: Number(share) }),
  };
}

function savedRules(kind: RuleSetKind, ruleSetId: string, version: number) {
  return kind === 'extractor' ? { version } : { pricing_rule_set_id: ruleSetId, pricing_version: version };
}

function timeRange(period: Period, nowS: number): BacktestRequest['time_range'] {
  if (period !== 'this-month' && period !== 'last-month') return { last_seconds: Number(period) };
  const { startS, endS } = monthAt(nowS, 'UTC', period === 'last-month' ? -1 : 0);
  return { from: startS, to: endS };
}

/** Describes the request of a backtest. It is stored as it was sent, so any field may have any type. */
export function describeRequest(request: unknown): string {
  const { extractor, pricing, time_range: range, sample } = fieldsOf(request);
  const rules =
    extractor !== undefined ? 'Extractor draft' : pricing !== undefined ? 'Pricing draft' : 'Saved rules';
  const share = typeof sample === 'number' ? `, sample of ${sample}` : '';
  return `${rules}, ${describeRange(range)}${share}`;
}

function describeRange(range: unknown): string {
  const { last_seconds: seconds, from, to } = fieldsOf(range);
  if (typeof from === 'number' && typeof to === 'number') return rangeLabel({ from, to }, 'UTC');
  const period = PERIODS.find(({ value }) => value === String(seconds))?.label ?? 'Custom range';
  return period.toLowerCase();
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
