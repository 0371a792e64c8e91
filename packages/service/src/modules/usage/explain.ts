import type {
  ChargeItemExtractor,
  ExtractorConfig,
  UsageChargeItem,
  UsageEvent,
  UsageExplanation,
  UsageItemExplanation,
} from '@tollgate/contract';

/** The version of an extractor rule set that read an event. */
export interface ExtractorText {
  readonly name: string | null;
  readonly config: ExtractorConfig;
}

/** What an extractor with a unit price and no expression of its own multiplies. */
const AMOUNT_EXPRESSION_DEFAULT = 'dec_mul(item.quantity, item.unit_price)';

/**
 * How each number of the event came about. `extractor` is the text of the version that read it; undefined when the
 * event failed before one was found.
 */
export function explainEvent(event: UsageEvent, extractor: ExtractorText | undefined): UsageExplanation {
  return {
    extractor: {
      rule_set_id: event.extractor_rule_set_id,
      version: event.extractor_version,
      name: extractor?.name ?? null,
    },
    charge_items: event.charge_items.map((item) => explainItem(item, extractor?.config)),
  };
}

function explainItem(item: UsageChargeItem, config: ExtractorConfig | undefined): UsageItemExplanation {
  const entry = item.source === 'extractor' ? entryOf(item, config) : undefined;
  const pricing = item.pricing_source === 'extractor' ? (entry ?? entryOf(item, config)) : undefined;
  return {
    metric: item.metric,
    quantity: {
      value: item.quantity,
      source: item.source,
      extractor_name: item.extractor_name,
      path: entry?.path ?? null,
      type: entry?.type ?? null,
    },
    unit_price: { value: item.unit_price, expression: pricing?.unit_price_expr ?? null },
    amount: {
      value: item.amount,
      currency: item.currency,
      expression: pricing === undefined ? null : (pricing.amount_expr ?? AMOUNT_EXPRESSION_DEFAULT),
    },
    priced_by: {
      pricing_source: item.pricing_source,
      rule_set_id: item.rule_set_id,
      rule_set_version: item.rule_set_version,
      rule_name: item.rule_name,
    },
  };
}

/** The config entry of an item: the one that read it or, for an item of the client's own, that priced it. */
function entryOf(
  item: UsageChargeItem,
  config: ExtractorConfig | undefined,
): ChargeItemExtractor | undefined {
  const sameMetric = (config?.charge_item_extractors ?? []).filter((entry) => entry.metric === item.metric);
  const name = item.source === 'x_billing' ? item.rule_name : item.extractor_name;
  const named = sameMetric.find((entry) => (entry.name ?? entry.metric) === name);
  return named ?? (sameMetric.length === 1 ? sameMetric[0] : undefined);
}
