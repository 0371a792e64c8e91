import { Plus, X } from 'lucide-react';
import { Button, IconButton } from '../../../ui/button.js';
import { Field, TextInput } from '../../../ui/field.js';
import { useRulesForm } from './context.js';

const PATHS_MAX = 8;

/** One-line summary of all paths whose numbers are summed. */
export function summaryOfPaths(part: { readonly path?: string; readonly sum_paths?: string[] }): string {
  return [part.path, ...(part.sum_paths ?? [])].filter(Boolean).join(' + ');
}

/** A list of paths; each label has its number in the list. */
export function PathList({
  path,
  paths,
  label,
  addLabel,
  addHint,
  onChange,
}: {
  readonly path: string;
  readonly paths: readonly string[];
  readonly label: string;
  readonly addLabel: string;
  readonly addHint: string;
  readonly onChange: (paths: readonly string[]) => void;
}) {
  const { isReadOnly, findings } = useRulesForm();
  if (isReadOnly && paths.length === 0) return null;
  return (
    <div className="flex flex-col gap-2">
      {paths.map((each, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a path is identified only by its position
          key={index}
          className="flex items-end gap-1"
        >
          <Field
            className="grow"
            label={`${label} (${index + 1})`}
            error={findings.find((finding) => finding.path === `${path}[${index}]`)?.message}
          >
            {(control) => (
              <TextInput
                {...control}
                className="w-full font-mono text-xs"
                spellCheck={false}
                readOnly={isReadOnly}
                value={each}
                onChange={(event) => onChange(paths.with(index, event.target.value))}
              />
            )}
          </Field>
          {!isReadOnly && (
            <IconButton
              label={`Remove ${each || 'path'}`}
              onClick={() => onChange(paths.toSpliced(index, 1))}
            >
              <X size={16} />
            </IconButton>
          )}
        </div>
      ))}
      {!isReadOnly && (
        <Button
          look="quiet"
          size="small"
          className="self-start"
          disabled={paths.length >= PATHS_MAX}
          title={addHint}
          onClick={() => onChange([...paths, ''])}
        >
          <Plus size={14} /> {addLabel}
        </Button>
      )}
    </div>
  );
}
