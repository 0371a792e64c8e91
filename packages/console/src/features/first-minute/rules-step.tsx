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

/** The step that publishes a rule set. */
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
  const title = 'Define what to charge';
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
            reads events with version {ruleSet.version}.
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
      summary="Paste a response of your provider. A template extracts the customer, dimensions and quantities. The rule set is published immediately, and you can change it at any time."
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

/** A draft rule set, which accepts no events until it is published. */
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
        is a draft and accepts no events yet.
      </p>
      {mayWrite && (
        <Button isBusy={publish.isPending} onClick={() => publish.mutate(id)}>
          Publish
        </Button>
      )}
      {publish.isError && <FailureNote error={publish.error} />}
    </div>
  );
}
