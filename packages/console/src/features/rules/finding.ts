import type { CodeFinding } from '../../ui/code/code-editor-props.js';
import { offsetOf } from '../../ui/code/text-place.js';

/** An error in a rule set, as reported by the service. */
export interface Finding {
  /** `charge_item_extractors[1].amount_expr`; empty for the body as a whole. */
  readonly path: string;
  readonly message: string;
}

/** The start of a message with a position in an expression. */
export const PLACED = /^line (\d+), column (\d+): ([\s\S]*)$/;

/** Locates an error within an expression. Without a position, it covers the whole expression. */
export function inExpression(source: string, message: string): CodeFinding {
  const [, line, column, reason] = PLACED.exec(message) ?? [];
  if (reason === undefined) return { from: 0, to: source.length, message };
  const from = Math.min(offsetOf(source, Number(line), Number(column)), source.length);
  const word = /^(\w+|.)/.exec(source.slice(from))?.[0] ?? '';
  return { from, to: from + word.length, message: reason };
}

/** Fields of a price, after the path of its rule. */
const PRICE =
  'unit_price_expr|pricing_unit|amount_expr|total_expr|cumulative(\\.(counter|period|per|aggregate|of|by(\\[\\])?))?';

/** Paths of one kind's form, in which a list index is `[]`. */
const FIELDS: Readonly<Record<'extractor' | 'pricing', readonly RegExp[]>> = {
  extractor: [
    /^(name|effective_from|dimensions|charge_item_extractors)$/,
    /^subject\.(type_path|default_type|id_path|default_id|required)$/,
    /^dimensions\[\](\.(name|path|type|required|(sum_paths|bands)(\[\])?))?$/,
    /^charge_item_extractors\[\](\.(name|metric|path|type|unit|currency|on_negative|((sum|less)_paths|stated_total\.other_paths)(\[\])?|stated_total\.path))?$/,
    new RegExp(`^charge_item_extractors\\[\\]\\.(${PRICE})$`),
  ],
  pricing: [
    /^(name|effective_from|currency|rules|aliases)$/,
    /^rules\[\](\.(name|priority|metric|match_expr))?$/,
    new RegExp(`^rules\\[\\]\\.(${PRICE})$`),
    /^aliases\[\](\.(dimension|pattern|value))?$/,
  ],
};

/** The errors for which the form has no field, shown above the form. */
export function withoutField(kind: 'extractor' | 'pricing', findings: readonly Finding[]): Finding[] {
  return findings.filter(({ path }) => {
    const general = path.replace(/\[\d+\]/g, '[]');
    return !FIELDS[kind].some((field) => field.test(general));
  });
}
