import type { ExtractorConfig } from '@tollgate/contract';
import type { RatingNote } from './failure.js';
import { Issues } from './issues.js';
import { compileQuantity } from './quantity.js';

/**
 * What rating noted of the quantities of an event: the same again, because it depends on the event and its rules alone.
 *
 * @param rawJson returns what was sent, parsed; called only where a rule can note something
 * @param billedMetrics those of the event's own charge items, whose extractors were not asked
 */
export function quantityNotes(
  { charge_item_extractors: entries = [] }: ExtractorConfig,
  rawJson: () => unknown,
  billedMetrics: ReadonlySet<string>,
): RatingNote[] {
  const notes: RatingNote[] = [];
  let parsed: { readonly value: unknown } | undefined;
  for (const [index, entry] of entries.entries()) {
    const { on_negative: mode = 'fail', stated_total: stated, metric } = entry;
    if ((mode === 'fail' && stated === undefined) || billedMetrics.has(metric)) continue;
    parsed ??= { value: rawJson() };
    const read = compileQuantity(entry, `charge_item_extractors[${index}]`, new Issues());
    read(parsed.value, (note) => notes.push(note));
  }
  return notes;
}
