import type { ExtractorConfig } from '@tollgate/contract';
import { type CompiledChargeItem, compileChargeItems } from './charge-item.js';
import { type CompiledDimension, compileDimensions } from './dimension.js';
import { type Issue, Issues } from './issues.js';
import { compileSubject, type ReadSubject } from './subject.js';

/** An extractor rule set, ready to read and rate events. Immutable, and free of any state between events. */
export interface CompiledExtractor {
  readonly readSubject: ReadSubject;
  readonly dimensions: readonly CompiledDimension[];
  readonly chargeItems: readonly CompiledChargeItem[];
}

export type ExtractorResult =
  | { readonly ok: true; readonly extractor: CompiledExtractor }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Checks what the schema of a rule set cannot (paths, patterns, duplicates, expressions) and compiles it.
 * All issues are found at once, in the order of the configuration.
 */
export function compileExtractor(config: ExtractorConfig): ExtractorResult {
  const issues = new Issues();
  const extractor: CompiledExtractor = {
    readSubject: compileSubject(config.subject ?? {}, issues),
    dimensions: compileDimensions(config.dimensions ?? [], issues),
    chargeItems: compileChargeItems(config.charge_item_extractors ?? [], issues),
  };
  return issues.found.length === 0 ? { ok: true, extractor } : { ok: false, issues: issues.found };
}
