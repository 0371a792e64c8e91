import {
  type ErrorDetail,
  type LimitRuleInput,
  UNIQUE_VALUES_MAX,
  USAGE_RECOVERED_EVENT,
} from '@tollgate/contract';
import { ONE_STORED } from '../../../kernel/decimal.js';
import { refuseInvalid } from '../../../kernel/errors.js';
import { parseLimitPeriod } from '../../../kernel/period.js';
import { amountText, exactAmount } from '../../ledger/index.js';
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
  refuseInvalid(details);
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
  refuseInvalid(details);
  return values;
}

type Report = (path: string, message: string) => void;

/** Limits on concurrent work have no windows; their rules are stored with the period that never ends. */
const NO_PERIOD = 'lifetime';

function valuesOf(rule: LimitRuleInput, report: Report): RuleValues {
  const { selector_value = '', dimension_key = null, currency = '', of = null } = rule;
  const { selector_values = null, dimension_value = null, dimension_values = null } = rule;
  checkSelector(rule, report);
  checkDimension(rule, report);
  if (rule.measure === 'amount' && currency === '') report('currency', 'is required for an amount');
  if (rule.measure === 'unique' && of === null) {
    report('of', 'is required for unique: the dimension whose values are counted');
  }
  if (rule.measure !== 'unique' && of !== null)
    report('of', 'expected none, because the measure is not unique');
  if (rule.measure === 'concurrency') checkConcurrency(rule, report);
  else checkPeriod(rule, report);
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
    selector_values,
    dimension_key,
    dimension_value,
    dimension_values,
    currency,
    period: rule.period ?? NO_PERIOD,
    limit_amount: limitText(rule, report),
    action: rule.action,
    webhook_event: rule.webhook_event ?? null,
    notify_at: notifyAt,
  };
}

/** Leases are not of a metric or a dimension alone, and nobody is notified of them. */
function checkConcurrency(rule: LimitRuleInput, report: Report): void {
  const {
    period,
    selector_type: selector,
    dimension_key: dimension,
    action,
    notify_at: shares,
    webhook_event,
  } = rule;
  if (period !== undefined) report('period', 'expected none for concurrency');
  if (selector !== 'all') report('selector_type', 'expected all for concurrency');
  if (dimension !== undefined && dimension !== null) report('dimension_key', 'expected none for concurrency');
  if (action !== 'block') report('action', 'expected block for concurrency: no alert is sent');
  if (shares !== undefined && shares.length > 0) report('notify_at', 'expected none for concurrency');
  if (webhook_event !== undefined && webhook_event !== null)
    report('webhook_event', 'expected none for concurrency');
}

function checkPeriod({ period: text, measure }: LimitRuleInput, report: Report): void {
  if (text === undefined) {
    report('period', 'is required');
    return;
  }
  const period = parseLimitPeriod(text);
  if (period === undefined) {
    report(
      'period',
      'expected minute, hour, day, week, month, lifetime, or a duration such as 5m, 5h, 7d, 2 week, 5 month; or ' +
        'first_use: or sliding: with minutes, hours, days or weeks, at most 365 or 31 days',
    );
  } else if (period.kind === 'sliding' && (measure === 'unique' || measure === 'max')) {
    report('period', `expected another one: ${measure} is not measured in sliding windows`);
  }
}

function checkSelector(
  { selector_type: type, selector_value = '', selector_values }: LimitRuleInput,
  report: Report,
) {
  if (type === 'all' && selector_value !== '') {
    report('selector_value', 'expected none, because all is selected');
  }
  if (type === 'metric' && selector_value === '') report('selector_value', 'is required: a metric');
  if (type === 'metric_prefix' && selector_value === '') {
    report('selector_value', 'is required: what the metrics begin with');
  }
  const values = selector_values ?? null;
  if (type !== 'metrics') {
    if (values !== null) report('selector_values', 'expected none, because the selector_type is not metrics');
    return;
  }
  if (selector_value !== '') report('selector_value', 'expected none: the metrics are in selector_values');
  if (values === null) report('selector_values', 'is required: a list of metrics');
  else reportRepeated('selector_values', values, report);
}

function checkDimension(
  { dimension_key: key, dimension_value: value, dimension_values: values }: LimitRuleInput,
  report: Report,
): void {
  const [hasKey, hasValue, hasValues] = [key, value, values].map(
    (field) => field !== undefined && field !== null,
  );
  if (hasValue && hasValues) report('dimension_values', 'expected none, because dimension_value is there');
  if (hasKey && !hasValue && !hasValues) {
    report('dimension_value', 'is required, because dimension_key is there; or dimension_values');
  }
  if (!hasKey && hasValue) report('dimension_key', 'is required, because dimension_value is there');
  if (!hasKey && hasValues) report('dimension_key', 'is required, because dimension_values is there');
  reportRepeated('dimension_values', values ?? [], report);
}

function reportRepeated(path: string, values: readonly string[], report: Report): void {
  const repeated = values.findIndex((value, index) => values.indexOf(value) < index);
  if (repeated >= 0) report(`${path}[${repeated}]`, 'expected one that is not in the list before');
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
  if (measure === 'unique' && amount > BigInt(UNIQUE_VALUES_MAX) * ONE_STORED) {
    report(
      'limit_amount',
      `expected at most ${UNIQUE_VALUES_MAX}: a window counts no more values (UNIQUE_VALUES_MAX)`,
    );
  }
  return amountText(amount);
}
