import { type ExtractorConfig, type PricingConfig, type Warning, warningsOf } from '@tollgate/contract';
import type { ProjectDb } from '../../platform/postgres/index.js';
import { dimensionsIn } from './expression/index.js';
import { type ExtractedNames, extractedNames } from './known-names-store.js';
import type { StoredVersion } from './store.js';

/** The fields of a rule or of a charge item extractor that name dimensions. */
interface NamingEntry {
  readonly match_expr?: string;
  readonly unit_price_expr?: string;
  readonly amount_expr?: string;
  readonly total_expr?: string;
  readonly cumulative?: { readonly by?: readonly string[]; readonly of?: string };
}

/** Returns warnings about a saved pricing rule set: names that its extractor rule set does not give to usage. */
export async function savedPricingWarnings(
  db: ProjectDb,
  { extractor_rule_set_id: boundTo, config }: StoredVersion<PricingConfig>,
): Promise<Warning[]> {
  if (boundTo === null) throw new Error('a pricing rule set is bound to an extractor rule set');
  return pricingWarnings(config, await extractedNames(db, boundTo));
}

/** Returns warnings about metrics and dimensions in pricing rules that an extractor rule set does not give to usage. */
export function pricingWarnings(
  { rules = [], aliases = [] }: PricingConfig,
  { metrics, dimensions }: ExtractedNames,
): Warning[] {
  const named = rules.map(({ metric }) => metric);
  const read = [...aliases.map(({ dimension }) => dimension), ...dimensionsOf(rules)];
  return [
    ...unknown('metric_not_extracted', named, metrics),
    ...unknown('dimension_not_extracted', read, dimensions),
  ];
}

/** Returns warnings about dimensions in the prices of an extractor rule set that it does not have. */
export function extractorWarnings({
  charge_item_extractors: entries = [],
  dimensions = [],
}: ExtractorConfig): Warning[] {
  const own = dimensions.map(({ name }) => name);
  return unknown('dimension_not_extracted', dimensionsOf(entries), own);
}

/** Returns the names that an extractor rule set gives to usage. */
export function namesOfExtractor({
  charge_item_extractors: entries = [],
  dimensions = [],
}: ExtractorConfig): ExtractedNames {
  return { metrics: entries.map(({ metric }) => metric), dimensions: dimensions.map(({ name }) => name) };
}

function unknown(
  code: 'metric_not_extracted' | 'dimension_not_extracted',
  names: readonly string[],
  known: readonly string[],
): Warning[] {
  const among = new Set(known);
  return warningsOf(
    code,
    names.filter((name) => !among.has(name)),
    known,
  );
}

/** Returns the dimensions that the entries read, in expressions and for counters. */
function dimensionsOf(entries: readonly NamingEntry[]): string[] {
  return entries.flatMap(({ match_expr, unit_price_expr, amount_expr, total_expr, cumulative = {} }) => [
    ...[match_expr, unit_price_expr, amount_expr, total_expr].flatMap((source = '') => dimensionsIn(source)),
    ...(cumulative.by ?? []),
    ...(cumulative.of === undefined ? [] : [cumulative.of]),
  ]);
}
