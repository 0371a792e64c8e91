import { isolated } from '../../../bidi.js';
import { decimalExact } from '../../../format.js';
import { plainNumber } from '../../../plain-number.js';
import { periodWords } from './period.js';
import { listedMetrics, listedValues, percentages, type RuleDraft } from './rule-draft.js';
import { dimensionWords, metricWords } from './selection-words.js';

/** Describes a rule: `100 USD of all usage per calendar month, alerts at 50 % and 80 %, blocks at 100 %`. */
export function ruleSentence(rule: RuleDraft): string {
  if (rule.measure === 'concurrency') return `${limitWords(rule)} leases active at once, blocks more`;
  const shares = percentages(rule.notify_at).filter((percent) => !(percent >= 100));
  return `${measureWords(rule)} ${periodWords(rule.period)}, ${actionWords(rule.action, shares)}`;
}

/** The alerts of a rule, and whether it blocks. The limit itself always sends one. */
function actionWords(action: RuleDraft['action'], shares: readonly number[]): string {
  if (action === 'notify') return `alerts only, at ${listed([...shares, 100])}`;
  return shares.length === 0 ? 'blocks at 100 %' : `alerts at ${listed(shares)}, blocks at 100 %`;
}

function limitWords({ limit_amount: amount }: RuleDraft): string {
  return amount === '' ? '…' : decimalExact(plainNumber(amount));
}

/** The limit of a rule, and the usage that it counts. */
function measureWords(rule: RuleDraft): string {
  const { measure, of, currency, selector_type } = rule;
  const amount = limitWords(rule);
  const unit = currency === '' ? '' : ` ${currency}`;
  const listed = rule.dimension_values === '' ? null : listedValues(rule);
  const where = dimensionWords({ ...rule, selector_values: null, dimension_values: listed });
  const selected = metricWords({ ...rule, selector_values: listedMetrics(rule), dimension_values: null });
  if (measure === 'count') {
    const kind = currency === '' ? 'charge items' : currency;
    return `${amount} ${kind} of ${selected}${where}`;
  }
  if (measure === 'unique') {
    return `${amount} different values of ${isolated(of || '…')} in ${selected}${where}`;
  }
  if (measure === 'max') return `at most ${amount}${unit} in one charge item of ${selected}${where}`;
  const isPlainQuantity = measure === 'quantity' && unit === '' && selector_type !== 'all';
  return `${amount}${unit}${isPlainQuantity ? '' : ' of'} ${selected}${where}`;
}

function listed(numbers: readonly number[]): string {
  const texts = numbers.map((number) => `${Number.isNaN(number) ? '…' : number} %`);
  const last = texts.at(-1) ?? '';
  return texts.length < 2 ? last : `${texts.slice(0, -1).join(', ')} and ${last}`;
}
