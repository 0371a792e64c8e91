import type { ExtractorRuleSet, ExtractorTemplate } from '@tollgate/contract';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { FailureNote, ReadFailure, Skeleton } from '../../../ui/states.js';
import { useSettled } from '../../../ui/use-settled.js';
import { JsonText } from '../trial/json-input.js';
import { useMatches, useTemplates } from './api.js';
import { CreateForm } from './create-form.js';
import { TemplateList } from './template-list.js';
import { TemplatePreview } from './template-preview.js';

const PASTE_HEIGHT_PX = 180;

export interface CreatedFromTemplate {
  readonly ruleSet: ExtractorRuleSet;
  /** The pasted event, if the template matches it. */
  readonly sample: string | undefined;
}

/** Finds a template by a pasted event or by name, and creates a rule set from it. */
export function TemplateChooser({
  isAlwaysPublished = false,
  onCreated,
}: {
  /** Publishes without asking. */
  readonly isAlwaysPublished?: boolean;
  readonly onCreated: (created: CreatedFromTemplate) => void;
}) {
  const templates = useTemplates();
  const [text, setText] = useState('');
  const [chosenId, setChosenId] = useState<string>();
  const settled = useSettled(text);
  const { matches, isPending, error } = useMatches(settled);
  const shownId = chosenId ?? matches[0]?.template.id;
  const shown = templates.data?.find(({ id }) => id === shownId);
  const match = matches.find(({ template }) => template.id === shownId);
  const paste = (pasted: string) => {
    setText(pasted);
    setChosenId(undefined);
  };
  if (templates.isError) {
    return <ReadFailure of={templates} />;
  }
  return (
    <div className="grid gap-8 lg:grid-cols-[minmax(0,26rem)_minmax(0,1fr)]">
      <div className="flex min-w-0 flex-col gap-6">
        <section aria-label="Paste a sample event">
          <h2 className="mb-2 text-[13px] font-semibold">Paste a sample event</h2>
          <JsonText
            label="Sample event as JSON"
            text={text}
            onChange={paste}
            minHeight={PASTE_HEIGHT_PX}
            placeholder="A response of your provider, as JSON"
            hint={<PasteState text={text} isTrying={isPending || settled !== text} fits={matches.length} />}
          />
          {error !== null && <FailureNote error={error} />}
        </section>
        <section aria-label="Templates">
          <h2 className="mb-2 text-[13px] font-semibold">
            {matches.length > 0 ? 'Matching templates' : 'Or choose a template'}
          </h2>
          {templates.data === undefined ? (
            <Skeleton className="h-96" />
          ) : (
            <TemplateList
              templates={templates.data}
              matches={matches}
              chosenId={shownId}
              onChoose={setChosenId}
            />
          )}
        </section>
      </div>
      <Chosen
        key={shownId}
        template={shown}
        preview={
          shown !== undefined && <TemplatePreview template={shown} match={match} onUseSample={setText} />
        }
        isChosenByHand={chosenId !== undefined}
        isAlwaysPublished={isAlwaysPublished}
        onCreated={(ruleSet) => onCreated({ ruleSet, sample: match === undefined ? undefined : settled })}
      />
    </div>
  );
}

function Chosen({
  template,
  preview,
  isChosenByHand,
  isAlwaysPublished,
  onCreated,
}: {
  readonly template: ExtractorTemplate | undefined;
  readonly preview: ReactNode;
  /** Whether the user chose the template in the list. */
  readonly isChosenByHand: boolean;
  readonly isAlwaysPublished: boolean;
  readonly onCreated: (ruleSet: ExtractorRuleSet) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On narrow screens it is below the list, so it is scrolled into view.
    const top = place.current?.getBoundingClientRect().top ?? 0;
    if (isChosenByHand && top > window.innerHeight) place.current?.scrollIntoView();
  }, [isChosenByHand]);
  if (template === undefined) {
    return (
      <div className="hidden min-h-72 items-center self-start justify-center rounded-xl border border-dashed border-line-strong p-8 text-center text-[13px] text-ink-soft lg:flex">
        <p className="max-w-xs">Paste an event to see which template matches and what it would charge.</p>
      </div>
    );
  }
  return (
    <div ref={place} className="flex min-w-0 scroll-mt-16 flex-col gap-6">
      {preview}
      <CreateForm template={template} isAlwaysPublished={isAlwaysPublished} onCreated={onCreated} />
    </div>
  );
}

function PasteState({
  text,
  isTrying,
  fits,
}: {
  readonly text: string;
  readonly isTrying: boolean;
  readonly fits: number;
}) {
  if (text.trim() === '') {
    return 'All templates are tested on the event. It is sent only to this service and not stored.';
  }
  if (isTrying) return 'Testing templates…';
  if (fits === 0) {
    return (
      <span className="text-warn">
        No template matches this event. Create a blank rule set under Rules instead.
      </span>
    );
  }
  return fits === 1 ? 'One template matches.' : `${fits} templates match. The best match is shown.`;
}
