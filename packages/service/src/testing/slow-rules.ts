/** Rules that take the maximum time to rate an event, for tests and benchmarks of delays between tenants. */

/** Digits of the two numbers of an event that the rules compare: more are refused. */
const DIGITS = 400;
const ELEMENTS = 400;
/** As many rules as the steps of an event allow; twice as many fail. */
const COSTLY_RULES = 22;

const COSTLY_MATCH = `[${Array(ELEMENTS).fill('0').join()}].exists(x, dimensions.whole < dimensions.fraction)`;
const METRICS = ['slow.items', 'slow.more'];

const EXTRACTOR = {
  name: 'Slow',
  effective_from: 1,
  subject: { default_type: 'customer', id_path: 'customer' },
  dimensions: ['whole', 'fraction'].map((name) => ({ name, path: name, type: 'number' })),
  charge_item_extractors: METRICS.map((metric) => ({
    metric,
    path: metric.slice('slow.'.length),
    type: 'number',
    currency: 'USD',
  })),
};

const PRICING = {
  name: 'Slow',
  effective_from: 1,
  rules: METRICS.flatMap((metric) => [
    ...Array.from({ length: COSTLY_RULES }, () => priced(metric, COSTLY_MATCH)),
    priced(metric, 'true'),
  ]),
};

function priced(metric: string, match_expr: string) {
  return { metric, match_expr, unit_price_expr: 'dec("0.01")' };
}

/**
 * Publishes the rules in a project.
 *
 * @param post sends a body to a path below the project's, and returns the response
 * @returns the id of the extractor rule set
 */
export async function publishSlowRules(
  post: (path: string, body?: object) => Promise<{ readonly id?: unknown }>,
): Promise<string> {
  const { id } = await post('/extractor-rule-sets', EXTRACTOR);
  await post(`/extractor-rule-sets/${id}/publish`);
  const pricing = await post('/pricing-rule-sets', { ...PRICING, extractor_rule_set_id: id });
  await post(`/pricing-rule-sets/${pricing.id}/publish`);
  return String(id);
}

/**
 * Returns a batch as JSON text, because a double cannot hold its digits. Every other event has too many items for its
 * steps, and fails.
 */
export function slowBatch(
  ruleSetId: string,
  { name, count, occurredAt }: { readonly name: string; readonly count: number; readonly occurredAt: number },
): string {
  const numbers = `"whole": ${'9'.repeat(DIGITS)}, "fraction": 0.${'9'.repeat(DIGITS)}`;
  const events = Array.from({ length: count }, (_, index) => {
    const rawJson = `{"customer": "slow", "items": 1, ${index % 2 === 0 ? '' : '"more": 1, '}${numbers}}`;
    return `{"extractor_rule_set_id": "${ruleSetId}", "idempotency_key": "${name}-${index}",
      "occurred_at": ${occurredAt}, "raw_json": ${rawJson}}`;
  });
  return `{"source": "slow", "events": [${events.join()}]}`;
}
