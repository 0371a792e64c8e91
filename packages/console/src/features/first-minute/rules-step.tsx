import type { ExtractorRuleSet } from '@tollgate/contract';
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { FailureNote, Skeleton } from '../../ui/states.js';
import type { CreatedFromTemplate } from '../rules/templates/template-chooser.js';
import { usePublish } from './api.js';
import { FirstStep } from './step.js';

const TemplateChooser = lazy(async () => ({
  default: (await import('../rules/templates/template-chooser.js')).TemplateChooser,
}));

/** A published rule set, of a template or of one's own. */
export function RulesStep({
  ruleSet,
  drafts,
  onCreated,
}: {
  readonly ruleSet: ExtractorRuleSet | undefined;
  readonly drafts: readonly ExtractorRuleSet[];
  readonly onCreated: (created: CreatedFromTemplate) => void;
}) {
  const { id: projectId } = useProject();
  const title = 'Say what is charged';
  if (ruleSet !== undefined) {
    return (
      <FirstStep
        number={1}
        title={title}
        state="done"
        summary={
          <>
            <Link
              href={`/p/${projectId}/rules/extractor/${ruleSet.id}`}
              className="font-medium text-accent hover:underline"
            >
              {ruleSet.name === '' ? ruleSet.id : ruleSet.name}
            </Link>{' '}
            reads events, in version {ruleSet.version}.
          </>
        }
      />
    );
  }
  return (
    <FirstStep
      number={1}
      title={title}
      state="open"
      summary="Paste what your provider answered: a template turns it into who used what, and how much. The rule set is published at once; it can be changed at any time."
    >
      {drafts.map((draft) => (
        <Draft key={draft.id} draft={draft} />
      ))}
      <Suspense fallback={<Skeleton className="h-96" />}>
        <TemplateChooser isAlwaysPublished onCreated={onCreated} />
      </Suspense>
    </FirstStep>
  );
}

/** A rule set that takes no events yet, for want of being published. */
function Draft({ draft: { id, name } }: { readonly draft: ExtractorRuleSet }) {
  const { id: projectId } = useProject();
  const mayWrite = useMay('rules:write');
  const publish = usePublish();
  return (
    <div className="mb-6 flex flex-wrap items-center gap-3 rounded-lg bg-sunken px-3.5 py-2.5 text-[13px]">
      <p className="min-w-0 grow">
        <Link
          href={`/p/${projectId}/rules/extractor/${id}`}
          className="font-medium text-accent hover:underline"
        >
          {name === '' ? id : name}
        </Link>{' '}
        is a draft, which takes no events.
      </p>
      {mayWrite && (
        <Button isBusy={publish.isPending} onClick={() => publish.mutate(id)}>
          Publish it
        </Button>
      )}
      {publish.isError && <FailureNote error={publish.error} />}
    </div>
  );
}
