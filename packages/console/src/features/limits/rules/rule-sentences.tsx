import type { RuleDraft } from './rule-draft.js';
import { ruleSentence } from './rule-sentence.js';

/** A read-only list of rules, one per line. */
export function RuleSentences({
  label,
  rules,
}: {
  readonly label: string;
  readonly rules: readonly RuleDraft[];
}) {
  if (rules.length === 0) return <p className="text-[13px] text-ink-soft">No rules. Nothing is limited.</p>;
  return (
    <ol
      aria-label={label}
      className="divide-y divide-line rounded-xl border border-line bg-panel text-[13px] shadow-xs"
    >
      {rules.map((rule) => (
        <li key={rule.limit_key} className="flex flex-wrap gap-x-3 px-4 py-2.5 wrap-anywhere">
          <span className="font-semibold">{rule.limit_key}</span>
          <span className="text-ink-soft">{ruleSentence(rule)}</span>
        </li>
      ))}
    </ol>
  );
}
