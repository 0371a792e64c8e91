import type { ExtractorTemplate } from '@tollgate/contract';
import { useState } from 'react';
import { Badge } from '../../../ui/badge.js';
import { Button } from '../../../ui/button.js';
import { classes } from '../../../ui/classes.js';
import type { TemplateMatch } from './match.js';
import { providerOf } from './provider.js';

/** The matching templates or, if none matches or on request, all templates. */
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
  const [isAllShown, setAllShown] = useState(false);
  const isShort = matches.length > 0 && !isAllShown;
  const shown = isShort ? matches.map(({ template }) => template) : templates;
  return (
    <>
      <ul className="flex flex-col gap-1">
        {shown.map((template) => (
          <li key={template.id}>
            <Template
              template={template}
              fit={fitOf(template, matches)}
              isChosen={template.id === chosenId}
              onChoose={onChoose}
            />
          </li>
        ))}
      </ul>
      {isShort && (
        <Button look="quiet" className="mt-2" onClick={() => setAllShown(true)}>
          Show all templates
        </Button>
      )}
    </>
  );
}

type Fit = 'best' | 'some' | 'none';

function fitOf({ id }: ExtractorTemplate, matches: readonly TemplateMatch[]): Fit {
  const place = matches.findIndex(({ template }) => template.id === id);
  return place === 0 ? 'best' : place > 0 ? 'some' : 'none';
}

function Template({
  template,
  fit,
  isChosen,
  onChoose,
}: {
  readonly template: ExtractorTemplate;
  readonly fit: Fit;
  readonly isChosen: boolean;
  readonly onChoose: (id: string) => void;
}) {
  const { id, title, description } = template;
  return (
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
        {fit !== 'none' && (
          <span className="ml-auto">
            <Badge tone={fit === 'best' ? 'good' : 'neutral'}>
              {fit === 'best' ? 'best match' : 'match'}
            </Badge>
          </span>
        )}
      </span>
      <span title={description} className="mt-0.5 line-clamp-2 text-xs text-ink-soft">
        {description}
      </span>
    </button>
  );
}
