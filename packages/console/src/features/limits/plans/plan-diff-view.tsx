import { ArrowRight } from 'lucide-react';
import { Badge } from '../../../ui/badge.js';
import { ruleSentence } from '../rules/rule-sentence.js';
import { type FieldChange, isSame, type PlanDiff, type RuleChange } from './plan-diff.js';

const TONES = { added: 'good', removed: 'bad', changed: 'warn' } as const;

/** The differences between two versions, rule by rule. */
export function PlanDiffView({ diff, label }: { readonly diff: PlanDiff; readonly label: string }) {
  if (isSame(diff)) return <p className="text-[13px] text-ink-soft">No changes.</p>;
  return (
    <ul
      aria-label={label}
      className="divide-y divide-line rounded-xl border border-line bg-panel text-[13px]"
    >
      {diff.texts.map((change) => (
        <li key={change.label} className="px-4 py-3">
          <Change {...change} />
        </li>
      ))}
      {diff.rules.map((change) => (
        <li key={change.rule.limit_key} className="px-4 py-3">
          <ChangedRule change={change} />
        </li>
      ))}
      {diff.isReordered && <li className="px-4 py-3 text-ink-soft">The order of the rules changed.</li>}
    </ul>
  );
}

function ChangedRule({ change }: { readonly change: RuleChange }) {
  const { kind, rule } = change;
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 wrap-anywhere">
        <Badge tone={TONES[kind]}>{kind}</Badge>
        <span className="font-semibold">{rule.limit_key}</span>
        <span className={kind === 'removed' ? 'text-ink-faint line-through' : 'text-ink-soft'}>
          {ruleSentence(rule)}
        </span>
      </p>
      {kind === 'changed' && (
        <>
          {change.fields.map((field) => (
            <Change key={field.label} {...field} />
          ))}
          <p className="text-xs text-ink-faint">{change.effect}</p>
        </>
      )}
    </div>
  );
}

function Change({ label, before, after }: FieldChange) {
  return (
    <p className="flex flex-wrap items-center gap-x-2 wrap-anywhere">
      <span className="w-28 shrink-0 text-ink-faint">{label}</span>
      <del className="text-ink-faint">{before === '' ? 'none' : before}</del>
      <ArrowRight size={12} className="text-ink-faint" aria-label="changed to" />
      <ins className="font-medium no-underline">{after === '' ? 'none' : after}</ins>
    </p>
  );
}
