import type { ChargeItemExtractor } from '@tollgate/contract';
import { checkCurrency, checkMetric } from './checks.js';
import { CounterNames } from './counter.js';
import type { Issues } from './issues.js';
import { compileItemPricing, type ItemPricing } from './item-pricing.js';
import { compileQuantity, type ReadQuantity } from './quantity.js';

export interface CompiledChargeItem {
  /** The configured name, or the metric. */
  readonly name: string;
  readonly metric: string;
  readonly unit: string;
  readonly readQuantity: ReadQuantity;
  /** The field with the path of the quantity, e.g. `charge_item_extractors[0].path`. */
  readonly quantityPath: string;
  /** The configured currency, with or without pricing. */
  readonly currency: string | undefined;
  readonly pricing: ItemPricing | undefined;
  /** The entry in the rule set, e.g. `charge_item_extractors[0]`. */
  readonly path: string;
}

export function compileChargeItems(
  configs: readonly ChargeItemExtractor[],
  issues: Issues,
): CompiledChargeItem[] {
  const firstByName = new Map<string, string>();
  const counters = new CounterNames(issues);
  const chargeItems: CompiledChargeItem[] = [];
  for (const [index, config] of configs.entries()) {
    const path = `charge_item_extractors[${index}]`;
    const name = config.name ?? config.metric;
    const first = firstByName.get(name);
    if (first === undefined) firstByName.set(name, path);
    else issues.add(`${path}.name`, `the name ${name} is already used by ${first}`);
    checkMetric(config.metric, `${path}.metric`, issues);
    checkCurrency(config.currency, `${path}.currency`, issues);
    const readQuantity = compileQuantity(config, path, issues);
    const pricing = compileItemPricing(config, path, issues);
    counters.add(pricing?.total?.counter, `${path}.cumulative`);
    chargeItems.push({
      name,
      metric: config.metric,
      unit: config.unit ?? '',
      readQuantity,
      quantityPath: `${path}.${config.path === undefined ? 'sum_paths' : 'path'}`,
      currency: config.currency,
      pricing,
      path,
    });
  }
  return chargeItems;
}
