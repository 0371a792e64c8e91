import type { ExtractorConfig } from '@tollgate/contract';
import { fromStored, toText } from '../../kernel/decimal.js';
import { parseLossless } from '../../kernel/json.js';
import { compileExtractor, type RuleOrigin } from './extract/index.js';
import { type RatedEvent, type RatingInput, rateEvent } from './rate.js';

/** Unix seconds. */
export const OCCURRED_AT = 1_790_000_000;

export const ORIGIN: RuleOrigin = { ruleSetId: 'ers_1', version: 3 };

/** Rates an event whose `raw_json` is the given text. */
export function rate(config: ExtractorConfig, rawJson: string, rest: Partial<RatingInput> = {}): RatedEvent {
  const result = compileExtractor(config, ORIGIN);
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return rateEvent(result.extractor, { rawJson: parseLossless(rawJson), occurredAt: OCCURRED_AT, ...rest });
}

/** Code and path of the failure. */
export function failureOf(rated: RatedEvent): readonly [string, string] {
  if (rated.ok) throw new Error('the event was rated');
  return [rated.failure.code, rated.failure.path];
}

/** The charge items, their decimals as text. */
export function itemsOf(rated: RatedEvent): Record<string, unknown>[] {
  if (!rated.ok) throw new Error(rated.failure.message);
  return rated.items.map((item) => ({
    ...item,
    quantity: toText(fromStored(item.quantity)),
    unitPrice: item.unitPrice === null ? null : toText(fromStored(item.unitPrice)),
    amount: toText(fromStored(item.amount)),
  }));
}

export type Item = NonNullable<ExtractorConfig['charge_item_extractors']>[number];

/** Charge item extractors that read a number `n` as tokens, but for the changes. */
export const items = (...changes: Partial<Item>[]): ExtractorConfig => ({
  charge_item_extractors: changes.map((change) => ({
    metric: 'tokens',
    path: 'n',
    type: 'number',
    ...change,
  })),
});
