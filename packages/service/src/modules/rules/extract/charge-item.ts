import { type ChargeItemExtractor, CURRENCY_PATTERN, METRIC_PATTERN } from '@tollgate/contract';
import { type Decimal, parseDecimal, sign } from '../../../kernel/decimal.js';
import { decimalFromJson, NumericText } from '../../../kernel/json.js';
import { type AttachedPricing, compileAttachedPricing } from './attached-pricing.js';
import { nothing } from './dimension.js';
import { RatingFailure } from './failure.js';
import type { Issues } from './issues.js';
import type { ReadPath } from './path.js';

export interface CompiledChargeItem {
  /** The configured name, or the metric. */
  readonly name: string;
  readonly metric: string;
  readonly unit: string;
  /** The quantity as sent; undefined when the event has none, and so no such charge item. */
  readonly readQuantity: (rawJson: unknown) => Decimal | undefined | RatingFailure;
  readonly pricing: AttachedPricing | undefined;
  /** The entry in the rule set, e.g. `charge_item_extractors[0]`. */
  readonly path: string;
}

const METRIC = new RegExp(METRIC_PATTERN);
const CURRENCY = new RegExp(CURRENCY_PATTERN);
/** Grammar of a decimal, to tell one that is out of range from text that is none. */
const DECIMAL_TEXT = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

export function compileChargeItems(
  configs: readonly ChargeItemExtractor[],
  issues: Issues,
): CompiledChargeItem[] {
  const firstByName = new Map<string, string>();
  return configs.map((config, index) => {
    const path = `charge_item_extractors[${index}]`;
    const name = config.name ?? config.metric;
    const first = firstByName.get(name);
    if (first === undefined) firstByName.set(name, path);
    else issues.add(`${path}.name`, `the name ${name} is already used by ${first}`);
    if (!METRIC.test(config.metric)) {
      issues.add(`${path}.metric`, `expected text that matches ${METRIC_PATTERN}`);
    }
    if (config.currency !== undefined && !CURRENCY.test(config.currency)) {
      issues.add(`${path}.currency`, `expected a code such as USD, or text that matches ${CURRENCY_PATTERN}`);
    }
    const read = issues.path(config.path, `${path}.path`) ?? nothing;
    return {
      name,
      metric: config.metric,
      unit: config.unit ?? '',
      readQuantity: config.type === 'number' ? numberReader(read, path) : textReader(read, path),
      pricing: compileAttachedPricing(config, path, issues),
      path,
    };
  });
}

function numberReader(read: ReadPath, path: string): CompiledChargeItem['readQuantity'] {
  const { mismatch, outOfRange, checked } = quantityFailures(path, 'a JSON number');
  return (rawJson) => {
    const value = read(rawJson);
    if (typeof value === 'number' || value instanceof NumericText) {
      return checked(decimalFromJson(value) ?? outOfRange);
    }
    return value === undefined || value === null ? undefined : mismatch;
  };
}

function textReader(read: ReadPath, path: string): CompiledChargeItem['readQuantity'] {
  const { mismatch, outOfRange, checked } = quantityFailures(path, 'a decimal in a string, such as "1.5"');
  return (rawJson) => {
    const value = read(rawJson);
    if (typeof value === 'string') {
      return checked(parseDecimal(value) ?? (DECIMAL_TEXT.test(value) ? outOfRange : mismatch));
    }
    return value === undefined || value === null ? undefined : mismatch;
  };
}

function quantityFailures(path: string, expected: string) {
  const at = `${path}.path`;
  const negative = new RatingFailure('quantity_negative', 'The quantity is negative.', at);
  return {
    mismatch: new RatingFailure('quantity_type_mismatch', `The quantity is not ${expected}.`, at),
    outOfRange: new RatingFailure('decimal_out_of_range', 'The quantity has too many digits.', at),
    checked: (quantity: Decimal | RatingFailure) =>
      quantity instanceof RatingFailure || sign(quantity) >= 0 ? quantity : negative,
  };
}
