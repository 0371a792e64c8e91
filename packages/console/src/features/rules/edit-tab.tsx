import { Braces, ListTree, Table2 } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { Button } from '../../ui/button.js';
import { messageOf, Skeleton } from '../../ui/states.js';
import type { RuleSetKind } from './api.js';
import { useMetricsToPrice } from './bindings.js';
import { type ExtractorBody, type PricingBody, unsupportedPath } from './body.js';
import { type Finding, withoutField } from './finding.js';
import { RulesFormContext } from './form/context.js';
import { ExtractorForm } from './form/extractor-form.js';
import type { FormPart } from './form/fields.js';
import { PricingForm } from './form/pricing-form.js';
import { GridView } from './model-prices/grid-view.js';
import type { Editing } from './use-editing.js';

/** Loaded on first use, because it includes a JSON parser. */
const JsonView = lazy(async () => ({ default: (await import('./json-view.js')).JsonView }));

export type EditView = 'form' | 'grid' | 'json';

export interface EditTabProps
  extends Pick<Editing, 'copy' | 'findings' | 'failure' | 'dimensionNames' | 'isReadOnly'> {
  readonly kind: RuleSetKind;
  readonly ruleSetId: string;
  readonly view: EditView;
  readonly onView: (view: EditView) => void;
}

/** Edits the rule set as a form or as JSON; both views edit the same text. */
export function EditTab({ view, onView, ...props }: EditTabProps) {
  const { kind, copy, findings, failure } = props;
  const unsupported = useMemo(
    () => (copy.body === undefined ? 'JSON' : unsupportedPath(kind, copy.body)),
    [kind, copy.body],
  );
  const isForm = view === 'form' && unsupported === undefined;
  const isGrid = kind === 'pricing' && view === 'grid' && unsupported === undefined;
  const shown = isForm ? withoutField(kind, findings) : findings;
  return (
    <div className="flex flex-col gap-4 px-4 pb-10 sm:px-6">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <fieldset className="flex gap-1">
          <legend className="sr-only">View</legend>
          <ViewButton
            isChosen={isForm}
            isDisabled={unsupported !== undefined}
            onChoose={() => onView('form')}
          >
            <ListTree size={14} /> Form
          </ViewButton>
          {kind === 'pricing' && (
            <ViewButton
              isChosen={isGrid}
              isDisabled={unsupported !== undefined}
              onChoose={() => onView('grid')}
            >
              <Table2 size={14} /> Model prices
            </ViewButton>
          )}
          <ViewButton isChosen={!isForm && !isGrid} onChoose={() => onView('json')}>
            <Braces size={14} /> JSON
          </ViewButton>
        </fieldset>
        {unsupported !== undefined && (
          <p className="text-xs text-ink-faint">
            {copy.body === undefined
              ? 'The form is available once this is valid JSON.'
              : `The form cannot show the value at ${unsupported}.`}
          </p>
        )}
      </div>
      <div role="status" className="empty:hidden">
        {failure != null && <p className="mb-2 text-[13px] text-bad">{messageOf(failure)}</p>}
        {shown.length > 0 && <Problems findings={shown} />}
      </div>
      {isForm || isGrid ? (
        <Form {...props} isGrid={isGrid} />
      ) : (
        <Suspense fallback={<Skeleton className="h-120" />}>
          <JsonView
            text={copy.text}
            findings={findings}
            isReadOnly={props.isReadOnly}
            onChange={copy.editText}
          />
        </Suspense>
      )}
    </div>
  );
}

function ViewButton({
  isChosen,
  isDisabled = false,
  onChoose,
  children,
}: {
  readonly isChosen: boolean;
  readonly isDisabled?: boolean;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}) {
  return (
    <Button
      size="small"
      look="quiet"
      aria-pressed={isChosen}
      disabled={isDisabled}
      onClick={onChoose}
      className={isChosen ? 'bg-sunken font-medium text-ink' : ''}
    >
      {children}
    </Button>
  );
}

function Form({
  kind,
  ruleSetId,
  copy,
  isGrid,
  ...shown
}: Omit<EditTabProps, 'view' | 'onView'> & { readonly isGrid: boolean }) {
  const { findings, dimensionNames, isReadOnly } = shown;
  const form = useMemo(
    () => ({ ruleSetId, findings, isReadOnly, dimensionNames }),
    [ruleSetId, findings, isReadOnly, dimensionNames],
  );
  return (
    <RulesFormContext value={form}>
      <div className="max-w-6xl">
        {kind === 'extractor' ? (
          <ExtractorForm value={copy.body as ExtractorBody} onChange={copy.edit} />
        ) : (
          <PricingViews isGrid={isGrid} value={copy.body as PricingBody} onChange={copy.edit} />
        )}
      </div>
    </RulesFormContext>
  );
}

/** The rules of a pricing rule set as a list or as a grid. */
function PricingViews({
  isGrid,
  ...part
}: Omit<FormPart<PricingBody>, 'path'> & { readonly isGrid: boolean }) {
  const metrics = useMetricsToPrice(part.value);
  return isGrid ? <GridView {...part} metrics={metrics} /> : <PricingForm {...part} />;
}

const SHOWN_MAX = 5;

function Problems({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <ul className="rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad">
      {findings.slice(0, SHOWN_MAX).map(({ path, message }) => (
        <li key={`${path} ${message}`} className="break-words">
          {path !== '' && <code className="mr-1.5 font-mono text-xs">{path}</code>}
          {message}
        </li>
      ))}
      {findings.length > SHOWN_MAX && <li>and {findings.length - SHOWN_MAX} more</li>}
    </ul>
  );
}
