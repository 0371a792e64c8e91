import { ALL } from '../kernel/json/json.js';
import type { RuleVersionSource } from '../modules/pipeline/index.js';
import {
  type RatedEvent,
  RatingFailure,
  type RatingInput,
  type RuleVersion,
} from '../modules/rules/index.js';
import type { TestEvent } from './accepted.js';

/** Day 20,254 since 1970. */
export const TEST_DAY = 20_254;
const OCCURRED_AT = TEST_DAY * 86_400 + 5;
const ONE = 10n ** 18n;
const NO_PRICE = { currency: '', unitPrice: null, amount: 0n, pricingSource: 'unpriced' } as const;

/**
 * Charges user `u1`, or the subject that is sent, for `raw_json.tokens` at 2 USD, or as the metric
 * `raw_json.unpriced` for nothing; fails without it until `isMended`; throws for `raw_json.bomb`.
 *
 * @param onRate called with the raw JSON of each event that is rated
 */
export function testRules(
  isMended = () => false,
  onRate: (rawJson: unknown) => void = () => {},
): RuleVersionSource {
  const version: RuleVersion = {
    version: 3,
    reads: ALL,
    rate: (input) => {
      onRate(input.rawJson);
      return rate(input, isMended());
    },
  };
  const at = (ruleSetId: string) => (ruleSetId === 'ers_unpublished' ? undefined : version);
  return {
    refresh: async (refs) => refs.map((ref) => ({ ...ref, rules: { at: () => at(ref.ruleSetId) } })),
  };
}

function rate({ rawJson, subject }: RatingInput, isMended: boolean): RatedEvent {
  const { tokens, bomb, unpriced } = rawJson as { tokens?: number; bomb?: boolean; unpriced?: string };
  if (bomb) throw new Error('bomb');
  const dimensions = new Map([['model', 'm1']]);
  if (tokens === undefined && !isMended) {
    return {
      ok: false,
      failure: new RatingFailure('dimension_missing', 'no tokens', 'x[0]'),
      dimensions,
    };
  }
  const quantity = BigInt(tokens ?? 1) * ONE;
  const item = {
    extractorName: 'tokens',
    metric: 'llm.tokens',
    unit: 'token',
    currency: 'USD',
    quantity,
    unitPrice: 2n * ONE,
    amount: 2n * quantity,
    discount: 0n,
    source: 'extractor',
    pricingSource: 'extractor',
    ruleSetId: 'ers_1',
    ruleSetVersion: 3,
    ruleName: '',
    cumulative: '',
    cost: { amount: quantity, currency: 'USD', ruleSetId: 'prs_cost', ruleSetVersion: 1, ruleName: 'tokens' },
  } as const;
  const items = unpriced === undefined ? [item] : [{ ...item, ...NO_PRICE, metric: unpriced }];
  return { ok: true, notes: [], subject: subject ?? { type: 'user', id: 'u1' }, dimensions, items };
}

/** An event of {@link TEST_DAY} that `testRules` charges for one token. */
export function testEvent(key: string, fields: Partial<TestEvent> = {}): TestEvent {
  return {
    occurred_at: OCCURRED_AT,
    idempotency_key: key,
    extractor_rule_set_id: 'ers_1',
    raw_json: { tokens: 1 },
    ...fields,
  };
}
