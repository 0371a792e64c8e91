import type { ExtractorTemplate } from '@tollgate/contract';
import { Badge } from '../../../ui/badge.js';
import { classes } from '../../../ui/classes.js';
import type { TemplateMatch } from './match.js';
import { providerOf } from './provider.js';

/** Every template by name and provider; those that read the pasted event say so. */
export function TemplateList({
  templates,
  matches,
  chosenId,
  onChoose,
}: {
  readonly templates: readonly ExtractorTemplate[];
  readonly matches: readonly TemplateMatch[];
  readonly chosenId: string | undefined;
  readonly onChoose: (id: string) => void;
}) {
  const best = matches[0]?.template.id;
  return (
    <ul className="flex flex-col gap-1">
      {templates.map((template) => {
        const { id, title, description } = template;
        const isChosen = id === chosenId;
        const fits = matches.some((match) => match.template.id === id);
        return (
          <li key={id}>
            <button
              type="button"
              aria-pressed={isChosen}
              onClick={() => onChoose(id)}
              className={classes(
                'block w-full rounded-lg border px-3.5 py-2.5 text-left transition-colors',
                isChosen ? 'border-accent bg-accent-soft' : 'border-transparent hover:bg-sunken',
              )}
            >
              <span className="flex flex-wrap items-center gap-x-2 text-[13px]">
                <span className="font-medium">{title}</span>
                <span className="text-xs text-ink-soft">{providerOf(template)}</span>
                {fits && (
                  <span className="ml-auto">
                    <Badge tone={id === best ? 'good' : 'neutral'}>
                      {id === best ? 'reads it best' : 'reads it'}
                    </Badge>
                  </span>
                )}
              </span>
              <span className="mt-0.5 line-clamp-2 text-xs text-ink-soft">{description}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
