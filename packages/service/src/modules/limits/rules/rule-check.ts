import {
  type ErrorDetail,
  type LimitRuleInput,
  UNIQUE_VALUES_MAX,
  USAGE_RECOVERED_EVENT,
} from '@tollgate/contract';
import { DomainError } from '../../../kernel/errors.js';
import { parsePeriod } from '../../../kernel/period.js';
import { amountText, exactAmount } from '../../ledger/index.js';
import { ONE_COUNTED } from './rule.js';
import type { RuleValues } from './rule-row.js';

/**
 * Checks the rules of a plan; returns them as they are stored.
 *
 * @param rules valid by the schema; parsed losslessly, so that no digit of a limit is lost
 * @throws DomainError `invalid_request` with every place that is wrong
 */
export function checkedRules(rules: readonly LimitRuleInput[]): RuleValues[] {
  const details: ErrorDetail[] = [];
  const seen = new Set<string>();
  const checked = rules.map((rule, index) => {
    const place = `rules[${index}].`;
    if (seen.has(rule.limit_key)) {
      details.push({ path: `${place}limit_key`, message: 'expected one that no other rule has' });
    }
    seen.add(rule.limit_key);
    return valuesOf(rule, (path, message) => details.push({ path: place + path, message }));
  });
  refuse(details);
  return checked;
}

/**
 * Checks one rule; returns it as it is stored.
 *
 * @throws DomainError as `checkedRules`
 */
export function checkedRule(rule: LimitRuleInput): RuleValues {
  const details: ErrorDetail[] = [];
  const values = valuesOf(rule, (path, message) => details.push({ path, message }));
  refuse(details);
  return values;
}

type Report = (path: string, message: string) => void;

function valuesOf(rule: LimitRuleInput, report: Report): RuleValues {
  const {
    selector_value = '',
    dimension_key = null,
    dimension_value = null,
    currency = '',
    of = null,
  } = rule;
  checkSelector(rule.selector_type, selector_value, report);
  if (dimension_key === null && dimension_value !== null) {
    report('dimension_key', 'is required, because dimension_value is there');
  }
  if (dimension_key !== null && dimension_value === null) {
    report('dimension_value', 'is required, because dimension_key is there');
  }
  if (rule.measure === 'amount' && currency === '') report('currency', 'is required for an amount');
  if (rule.measure === 'unique' && of === null) {
    report('of', 'is required for unique: the dimension whose values are counted');
  }
  if (rule.measure !== 'unique' && of !== null)
    report('of', 'expected none, because the measure is not unique');
  if (parsePeriod(rule.period) === undefined) {
    report(
      'period',
      'expected hour, day, week, month, lifetime, or a duration such as 5h, 7d, 2 week, 5 month',
    );
  }
  const notifyAt = rule.notify_at ?? [];
  const falls = notifyAt.findIndex((percent, index) => index > 0 && percent <= (notifyAt[index - 1] ?? 0));
  if (falls >= 0) report(`notify_at[${falls}]`, 'expected more than the percentage before it');
  if (rule.webhook_event === USAGE_RECOVERED_EVENT) {
    report('webhook_event', 'expected another name: this one is sent when an alert ends');
  }
  return {
    limit_key: rule.limit_key,
    measure: rule.measure,
    of,
    selector_type: rule.selector_type,
    selector_value,
    dimension_key,
    dimension_value,
    currency,
    period: rule.period,
    limit_amount: limitText(rule, report),
    action: rule.action,
    webhook_event: rule.webhook_event ?? null,
    notify_at: notifyAt,
  };
}

function checkSelector(type: LimitRuleInput['selector_type'], value: string, report: Report): void {
  if (type === 'all' && value !== '') report('selector_value', 'expected none, because all is selected');
  if (type === 'metric' && value === '') report('selector_value', 'is required: a metric');
  if (type === 'metric_prefix' && value === '') {
    report('selector_value', 'is required: what the metrics begin with');
  }
}

function limitText({ measure, limit_amount }: LimitRuleInput, report: Report): string {
  const amount = exactAmount(limit_amount);
  if (amount === undefined || amount < 0n) {
    report(
      'limit_amount',
      'expected a decimal of at most 20 integer and 18 fraction digits that is not negative',
    );
    return '';
  }
  if (measure === 'unique' && amount > BigInt(UNIQUE_VALUES_MAX) * ONE_COUNTED) {
    report(
      'limit_amount',
      `expected at most ${UNIQUE_VALUES_MAX}: a window counts no more values (UNIQUE_VALUES_MAX)`,
    );
  }
  return amountText(amount);
}

function refuse(details: readonly ErrorDetail[]): void {
  const first = details[0];
  if (first === undefined) return;
  const message = `The request is not valid: ${first.path}: ${first.message}.`;
  throw new DomainError('invalid_request', { message, details });
}
