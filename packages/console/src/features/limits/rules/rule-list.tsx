import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { EmptyState } from '../../../ui/states.js';
import { RuleCard } from './rule-card.js';
import { copyRule, NEW_RULE, RULE_FIELDS, type RuleDraft } from './rule-draft.js';
import { RuleSuggestions } from './suggestions.js';

/** A rule in the list of a form. `id` stays the same while the rule is moved. */
export interface ListedRule {
  readonly id: string;
  readonly rule: RuleDraft;
}

let idsGiven = 0;

export function listed(rule: RuleDraft): ListedRule {
  idsGiven += 1;
  return { id: `rule-${idsGiven}`, rule };
}

/** The paths of all rule fields, as errors name them. */
export function ruleFieldPaths(rules: readonly ListedRule[]): string[] {
  return rules.flatMap((_, index) => RULE_FIELDS.map((field) => `rules[${index}].${field}`));
}

/** An ordered list of rules to add, edit, duplicate, move and remove. */
export function RuleList({
  rules,
  errorAt,
  onChange,
}: {
  readonly rules: readonly ListedRule[];
  readonly errorAt: (path: string) => string | undefined;
  readonly onChange: (rules: readonly ListedRule[]) => void;
}) {
  const [openIds, setOpenIds] = useState<ReadonlySet<string>>(new Set());
  const setOpen = (id: string, isOpen: boolean) => {
    const others = [...openIds].filter((each) => each !== id);
    setOpenIds(new Set(isOpen ? [...others, id] : others));
  };
  const insert = (at: number, rule: RuleDraft) => {
    const added = listed(rule);
    onChange(rules.toSpliced(at, 0, added));
    setOpen(added.id, true);
  };
  return (
    <section aria-label="Rules" className="flex flex-col gap-3">
      <RuleSuggestions />
      <h2 className="text-[15px] font-semibold">Rules</h2>
      {rules.length === 0 && (
        <div className="rounded-xl border border-dashed border-line-strong">
          <EmptyState title="No rules">A limit plan without rules limits nothing.</EmptyState>
        </div>
      )}
      <ol className="flex flex-col gap-2">
        {rules.map(({ id, rule }, index) => {
          const errorOf = (field: keyof RuleDraft) => errorAt(`rules[${index}].${field}`);
          const hasError = RULE_FIELDS.some((field) => errorOf(field) !== undefined);
          return (
            <RuleCard
              key={id}
              {...{ rule, index, errorOf, hasError }}
              isLast={index === rules.length - 1}
              isOpen={openIds.has(id) || hasError}
              onToggle={() => setOpen(id, !openIds.has(id))}
              onEdit={(change) => onChange(rules.with(index, { id, rule: { ...rule, ...change } }))}
              onMove={(step) => onChange(moved(rules, index, step))}
              onCopy={() =>
                insert(
                  index + 1,
                  copyRule(
                    rule,
                    rules.map((each) => each.rule.limit_key),
                  ),
                )
              }
              onRemove={() => onChange(rules.toSpliced(index, 1))}
            />
          );
        })}
      </ol>
      <Button className="self-start" onClick={() => insert(rules.length, NEW_RULE)}>
        <Plus size={14} />
        Add rule
      </Button>
    </section>
  );
}

function moved(rules: readonly ListedRule[], from: number, step: -1 | 1): readonly ListedRule[] {
  const rule = rules[from];
  return rule === undefined ? rules : rules.toSpliced(from, 1).toSpliced(from + step, 0, rule);
}
