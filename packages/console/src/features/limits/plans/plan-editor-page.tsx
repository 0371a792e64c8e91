import type { UsageLimitPlanDetail } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useProject } from '../../../project.js';
import { FailedPage } from '../../../shell/failed-page.js';
import { PageHeader } from '../../../shell/page-header.js';
import { Button } from '../../../ui/button.js';
import { Field, TextArea, TextInput } from '../../../ui/field.js';
import { type FieldErrors, fieldErrorsOf } from '../../../ui/field-errors.js';
import { FailureNote, Skeleton } from '../../../ui/states.js';
import { UnsavedGuard } from '../../../ui/unsaved-guard.js';
import { ruleDraft, ruleInput } from '../rules/rule-draft.js';
import { type ListedRule, listed, RuleList, ruleFieldPaths } from '../rules/rule-list.js';
import { usePlan, useSavePlan } from './api.js';

interface PlanDraft {
  readonly title: string;
  readonly name: string;
  readonly description: string;
  readonly rules: readonly ListedRule[];
}

const NEW_PLAN: PlanDraft = { title: '', name: '', description: '', rules: [] };

export function NewPlanPage() {
  return <PlanEditor title="New limit plan" initial={NEW_PLAN} />;
}

/** Edits the draft of a plan. Without a draft, it starts from the published revision; saving creates the draft. */
export function EditPlanPage({ planId }: { readonly planId: string }) {
  const { id: projectId } = useProject();
  const plan = usePlan(planId);
  if (plan.isError)
    return <FailedPage above={{ label: 'Limit plans', href: `/p/${projectId}/limits/plans` }} of={plan} />;
  if (plan.data === undefined) return <Skeleton className="m-6 h-96" />;
  return <PlanEditor title={plan.data.title} planId={planId} initial={planDraftOf(plan.data)} />;
}

function planDraftOf({ title, name, description, draft, published }: UsageLimitPlanDetail): PlanDraft {
  const rules = (draft ?? published)?.rules ?? [];
  return { title, name, description, rules: rules.map((rule) => listed(ruleDraft(rule))) };
}

function PlanEditor({
  title,
  planId,
  initial: given,
}: {
  readonly title: string;
  readonly planId?: string;
  readonly initial: PlanDraft;
}) {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  const [initial] = useState(given);
  const [draft, setDraft] = useState(initial);
  const save = useSavePlan(planId);
  const errors = fieldErrorsOf(save.error, [
    ...['title', 'name', 'description'],
    ...ruleFieldPaths(draft.rules),
  ]);
  const plans = `/p/${projectId}/limits/plans`;
  const back = planId === undefined ? plans : `${plans}/${planId}`;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = {
      ...draft,
      title: draft.title.trim(),
      rules: draft.rules.map(({ rule }) => ruleInput(rule)),
    };
    save.mutate(body, { onSuccess: ({ id }) => navigate(`${plans}/${id}`) });
  };
  return (
    <form onSubmit={submit} className="max-w-5xl">
      <UnsavedGuard isDirty={draft !== initial && !save.isSuccess} />
      <PageHeader above={{ label: 'Limit plans', href: plans }} title={title} />
      <div className="flex flex-col gap-6 px-4 pb-6 sm:px-6">
        <PlanTexts
          draft={draft}
          isNew={planId === undefined}
          errors={errors}
          onEdit={(change) => setDraft({ ...draft, ...change })}
        />
        <RuleList
          rules={draft.rules}
          errorAt={errors.at}
          onChange={(rules) => setDraft({ ...draft, rules })}
        />
        {errors.rest !== undefined && <FailureNote error={errors.rest} />}
      </div>
      <footer className="sticky bottom-0 flex flex-wrap items-center justify-end gap-2 border-t border-line bg-page px-4 py-3 sm:px-6">
        <p className="mr-auto text-xs text-ink-faint">Changes take effect when you publish the draft.</p>
        <div className="flex gap-2">
          <Link
            href={back}
            className="inline-flex h-8 items-center rounded-md border border-line-strong bg-panel px-3 text-[13px] font-medium shadow-xs hover:bg-sunken"
          >
            Cancel
          </Link>
          <Button type="submit" look="primary" isBusy={save.isPending}>
            Save draft
          </Button>
        </div>
      </footer>
    </form>
  );
}

function PlanTexts({
  draft: { title, name, description },
  isNew,
  errors,
  onEdit,
}: {
  readonly draft: PlanDraft;
  readonly isNew: boolean;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<PlanDraft>) => void;
}) {
  return (
    <section aria-label="Plan" className="grid items-start gap-4 sm:grid-cols-2">
      <Field label="Title" hint="Shown in the console." error={errors.at('title')}>
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus={isNew}
            value={title}
            onChange={(event) => {
              const followed = isNew && name === nameOf(title) ? { name: nameOf(event.target.value) } : {};
              onEdit({ title: event.target.value, ...followed });
            }}
          />
        )}
      </Field>
      <Field
        label="Name"
        hint={isNew ? 'Used in code. Cannot be changed later.' : 'Cannot be changed.'}
        error={errors.at('name')}
      >
        {(control) => (
          <TextInput
            {...control}
            required
            disabled={!isNew}
            value={name}
            onChange={(event) => onEdit({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label="Description" hint="Optional." error={errors.at('description')} className="sm:col-span-2">
        {(control) => (
          <TextArea
            {...control}
            value={description}
            onChange={(event) => onEdit({ description: event.target.value })}
          />
        )}
      </Field>
    </section>
  );
}

const NAME_CHARS_MAX = 64;

/** Derives a name from a title: lowercase words joined by underscores. */
function nameOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, NAME_CHARS_MAX);
}
