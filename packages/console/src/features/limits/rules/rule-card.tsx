import { ChevronDown, ChevronRight, Copy, MoveDown, MoveUp, Trash2 } from 'lucide-react';
import { IconButton } from '../../../ui/button.js';
import { classes } from '../../../ui/classes.js';
import { RuleFields } from './rule-fields.js';
import type { RuleFieldsProps } from './rule-inputs.js';
import { ruleSentence } from './rule-sentence.js';

export interface RuleCardProps extends RuleFieldsProps {
  /** Position in the list, from 0. */
  readonly index: number;
  readonly isLast: boolean;
  readonly isOpen: boolean;
  readonly hasError: boolean;
  readonly onToggle: () => void;
  readonly onMove: (step: -1 | 1) => void;
  readonly onCopy: () => void;
  readonly onRemove: () => void;
}

/** A rule: collapsed to a sentence, or expanded to its fields. */
export function RuleCard({
  index,
  isLast,
  isOpen,
  hasError,
  onToggle,
  onMove,
  onCopy,
  onRemove,
  ...fields
}: RuleCardProps) {
  const { rule } = fields;
  const name = rule.limit_key === '' ? `Rule ${index + 1}` : rule.limit_key;
  return (
    <li
      aria-label={name}
      className={classes('rounded-xl border bg-panel shadow-xs', hasError ? 'border-bad' : 'border-line')}
    >
      <div className="flex flex-wrap items-center justify-end gap-1 py-1.5 pr-1.5 pl-2 sm:flex-nowrap">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={onToggle}
          className="flex min-w-0 grow items-center gap-2 rounded-md p-1.5 text-left max-sm:basis-full"
        >
          {isOpen ? (
            <ChevronDown size={16} className="shrink-0" />
          ) : (
            <ChevronRight size={16} className="shrink-0" />
          )}
          <span className="min-w-0 text-[13px] wrap-anywhere">
            <span className="font-semibold">{name}</span>
            <span className="ml-2 text-ink-soft">{ruleSentence(rule)}</span>
          </span>
        </button>
        <IconButton label={`Move ${name} up`} disabled={index === 0} onClick={() => onMove(-1)}>
          <MoveUp size={14} />
        </IconButton>
        <IconButton label={`Move ${name} down`} disabled={isLast} onClick={() => onMove(1)}>
          <MoveDown size={14} />
        </IconButton>
        <IconButton label={`Duplicate ${name}`} onClick={onCopy}>
          <Copy size={14} />
        </IconButton>
        <IconButton label={`Remove ${name}`} onClick={onRemove}>
          <Trash2 size={14} />
        </IconButton>
      </div>
      {isOpen && (
        <div className="border-t border-line p-4">
          <RuleFields {...fields} />
        </div>
      )}
    </li>
  );
}
