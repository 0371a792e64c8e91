import type { BacktestRequest } from '@tollgate/contract';
import type { RuleSetKind } from '../api.js';
import { boundTo } from './trial-request.js';

export const PERIODS = [
  { value: '86400', label: 'the last 24 hours' },
  { value: '604800', label: 'the last 7 days' },
  { value: '2592000', label: 'the last 30 days' },
  { value: '7776000', label: 'the last 90 days' },
] as const;
/** In seconds. */
export type Period = (typeof PERIODS)[number]['value'];

export const SHARES = [
  { value: '1', label: 'All of them' },
  { value: '0.1', label: 'One in 10' },
  { value: '0.01', label: 'One in 100' },
] as const;
export type Share = (typeof SHARES)[number]['value'];

/**
 * A backtest of a draft on the events of its extractor rule set; undefined while the draft names none, or is
 * no JSON.
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
    // The service checks it: it is what somebody typed.
    [kind]: draft,
    time_range: { last_seconds: Number(period) },
    ...(share === '1' ? {} : { sample: Number(share) }),
  };
}

/** What a backtest was asked, as it was sent: read with care, for it is stored as it came. */
export function describeRequest(request: unknown): string {
  const { extractor, pricing, time_range: range, sample } = fieldsOf(request);
  const rules =
    extractor !== undefined ? 'Extractor draft' : pricing !== undefined ? 'Pricing draft' : 'Saved rules';
  const { last_seconds: seconds } = fieldsOf(range);
  const period = PERIODS.find(({ value }) => value === String(seconds))?.label ?? 'a range of its own';
  const share = typeof sample === 'number' ? `, a share of ${sample}` : '';
  return `${rules}, usage of ${period}${share}`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
