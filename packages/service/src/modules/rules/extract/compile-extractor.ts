import type { ExtractorConfig } from '@tollgate/contract';
import type { BoundedMemory } from '../../../kernel/bounded-memory.js';
import { compareText } from '../../../kernel/compare-text.js';
import type { JsonSelection } from '../../../kernel/json/json.js';
import { type CompiledChargeItem, compileChargeItems } from './charge-item.js';
import { type CompiledDimension, compileDimensions } from './dimension.js';
import { type Issue, Issues } from './issues.js';
import { selectionOf } from './selection.js';
import { compileSubject, type ReadSubject } from './subject.js';

/** The rule set and the version that are compiled. */
export interface RuleOrigin {
  readonly ruleSetId: string;
  readonly version: number;
}

/** Origin of rules that were never saved. */
export const UNSAVED: RuleOrigin = { ruleSetId: '', version: 0 };

/** An extractor rule set, ready to read and rate events. Immutable, and free of any state between events. */
export interface CompiledExtractor {
  readonly origin: RuleOrigin;
  /** All of `raw_json` that the paths can read. */
  readonly reads: JsonSelection;
  readonly readSubject: ReadSubject;
  /** Sorted by name: two events with equal dimensions then have them in equal order, under any version. */
  readonly dimensions: readonly CompiledDimension[];
  readonly chargeItems: readonly CompiledChargeItem[];
  /** Whether an event with a charge item that has no price fails. */
  readonly failsUnpriced: boolean;
}

export type ExtractorResult =
  | { readonly ok: true; readonly extractor: CompiledExtractor }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Checks what the schema of a rule set cannot (paths, patterns, duplicates, expressions) and compiles it. All issues
 * are found at once, in the order of the configuration.
 *
 * @param codeMemory of a configuration that was saved: its expressions are compiled when they are needed, and kept
 * there
 */
export function compileExtractor(
  config: ExtractorConfig,
  origin: RuleOrigin = UNSAVED,
  codeMemory?: BoundedMemory,
): ExtractorResult {
  const issues = new Issues(codeMemory);
  const readers = {
    readSubject: compileSubject(config.subject ?? {}, issues),
    dimensions: compileDimensions(config.dimensions ?? [], issues).toSorted((a, b) =>
      compareText(a.name, b.name),
    ),
    chargeItems: compileChargeItems(config.charge_item_extractors ?? [], issues),
  };
  if (issues.found.length > 0) return { ok: false, issues: issues.found };
  const failsUnpriced = config.on_unpriced === 'fail';
  return { ok: true, extractor: { origin, reads: selectionOf(issues.paths), ...readers, failsUnpriced } };
}
