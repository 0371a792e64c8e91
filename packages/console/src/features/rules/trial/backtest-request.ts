import type { BacktestRequest } from '@tollgate/contract';
import type { RuleSetKind } from '../api.js';
import { boundTo } from './trial-request.js';

export const PERIODS = [
  { value: '86400', label: 'Last 24 hours' },
  { value: '604800', label: 'Last 7 days' },
  { value: '2592000', label: 'Last 30 days' },
  { value: '7776000', label: 'Last 90 days' },
] as const;
/** In seconds. */
export type Period = (typeof PERIODS)[number]['value'];

export const SHARES = [
  { value: '1', label: 'All events' },
  { value: '0.1', label: '1 in 10 events' },
  { value: '0.01', label: '1 in 100 events' },
] as const;
export type Share = (typeof SHARES)[number]['value'];

/**
 * The request of a backtest of a draft on the events of its extractor rule set; undefined while the draft names
 * none or is not valid JSON.
 */
export function backtestBody(
  { kind, ruleSetId, draft }: { kind: RuleSetKind; ruleSetId: string; draft: unknown },
  period: Period,
  share: Share,
): BacktestRequest | undefined {
  const extractorId = kind === 'extractor' ? ruleSetId : boundTo(draft);
  if (draft === undefined || extractorId === undefined) return undefined;
  return {
    extractor_rule_set_id: extractorId,
    // Unchecked user input, which the service validates.
    [kind]: draft,
    time_range: { last_seconds: Number(period) },
    ...(share === '1' ? {} : { sample: Number(share) }),
  };
}

/** Describes the request of a backtest. It is stored as it was sent, so any field may have any type. */
export function describeRequest(request: unknown): string {
  const { extractor, pricing, time_range: range, sample } = fieldsOf(request);
  const rules =
    extractor !== undefined ? 'Extractor draft' : pricing !== undefined ? 'Pricing draft' : 'Saved rules';
  const { last_seconds: seconds } = fieldsOf(range);
  const period = PERIODS.find(({ value }) => value === String(seconds))?.label ?? 'Custom range';
  const share = typeof sample === 'number' ? `, sample of ${sample}` : '';
  return `${rules}, ${period.toLowerCase()}${share}`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
