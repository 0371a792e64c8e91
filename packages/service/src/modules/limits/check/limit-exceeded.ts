import type { ErrorDetail } from '@tollgate/contract';
import { DomainError } from '../../../kernel/errors.js';
import { type Amount, amountText } from '../../ledger/index.js';
import { hasRoomFor, type LimitStatus } from './limit-status.js';

/** Upper bound of the limits that the message names; `details` lists all of them. */
const LIMITS_NAMED_MAX = 3;

/** A limit, and what a request asks of it. */
export interface AskedLimit {
  readonly status: LimitStatus;
  readonly asked: Amount;
}

/**
 * Refuses a request that does not fit all limits. Refunds make no room for leases: a lease outlives the window, so
 * reserved amounts must stay within the limit without them.
 *
 * @throws DomainError `limit_exceeded`, which lists the limits that are too low
 */
export function refuseFull(limits: readonly AskedLimit[]): void {
  const full = limits.filter(
    ({ status, asked }) => !hasRoomFor({ ...status, used: withoutRefunds(status.used) }, asked),
  );
  if (full.length === 0) return;
  throw new DomainError('limit_exceeded', {
    message: sentenceOf(full.map(({ status }) => status)),
    details: full.map(detailOf),
  });
}

function withoutRefunds(used: Amount): Amount {
  return used > 0n ? used : 0n;
}

function sentenceOf(full: readonly LimitStatus[]): string {
  const named = full.slice(0, LIMITS_NAMED_MAX).map(({ rule, used, reserved, limit }) => {
    const taken = amountText(withoutRefunds(used) + reserved);
    return `${rule.limitKey} (${taken} of ${amountText(limit)} ${unitOf(rule)} used or reserved)`;
  });
  const others = full.length - named.length;
  const rest = others === 0 ? '' : ` and ${others} more`;
  return `Would exceed ${full.length} ${full.length === 1 ? 'limit' : 'limits'}: ${named.join(', ')}${rest}.`;
}

function unitOf({ measure, currency }: LimitStatus['rule']): string {
  if (measure === 'concurrency') return 'leases';
  return currency === '' ? 'units' : currency;
}

function detailOf({ status, asked }: AskedLimit): ErrorDetail {
  const { at, rule, used, reserved, limit } = status;
  const { level, subject, route } = at;
  return {
    path: rule.id,
    message: `${amountText(used)} used and ${amountText(reserved)} reserved of ${amountText(limit)} ${unitOf(rule)}`,
    limit_key: rule.limitKey,
    plan_id: rule.planId,
    level,
    subject_type: subject.type,
    subject_id: subject.id,
    account_id: route.account.id,
    currency: rule.currency,
    limit_amount: amountText(limit),
    used_amount: amountText(used),
    reserved_amount: amountText(reserved),
    asked_amount: amountText(asked),
  };
}
