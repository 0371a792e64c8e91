import type { ExtractorRuleSet, PricingRuleSet } from '@tollgate/contract';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { nowS } from '../../clock.js';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.js';
import { TextInput } from '../../ui/field.js';
import { FailureNote, ReadFailure, Skeleton } from '../../ui/states.js';
import {
  type RuleSet,
  type RuleSetBody,
  type RuleSetKind,
  type RuleSetVersion,
  type useRuleSetChanges,
  useVersions,
} from './api.js';
import { bodyOf } from './body.js';
import { ChangeList } from './change-list.js';
import { momentText, unixSecondsOf } from './moment.js';
import { titleOf } from './rule-set-list.js';

interface PublishDialogProps {
  readonly kind: RuleSetKind;
  /** The rule set, whose draft is saved. */
  readonly ruleSet: RuleSet;
  readonly change: ReturnType<typeof useRuleSetChanges>['publish'];
  readonly onClose: () => void;
}

/** Shows the changes of a draft and its effective time, and publishes it after confirmation. */
export function PublishDialog(props: PublishDialogProps) {
  const { kind, ruleSet, onClose } = props;
  const versions = useVersions(kind, ruleSet.id);
  const draft = versions.data?.find(({ version }) => version === ruleSet.version);
  const before = versions.data?.find(({ version }) => version === ruleSet.version - 1);
  // Versions fetched before the draft was saved are outdated, so the form waits for a fresh fetch. Later fetches do
  // not hide the form again.
  const [isReady, setReady] = useState(false);
  if (!isReady && draft !== undefined && !versions.isFetching) setReady(true);
  return (
    <Dialog
      title={
        <>
          Publish <bdi>{titleOf(ruleSet)}</bdi>, version {ruleSet.version}
        </>
      }
      description="Published versions cannot be changed. Later changes create a new version."
      isOpen
      onClose={onClose}
      isWide
    >
      {versions.isError && <ReadFailure of={versions} />}
      {!isReady && !versions.isError && <Skeleton className="h-64" />}
      {isReady && draft !== undefined && <PublishForm {...props} draft={draft} before={before} />}
    </Dialog>
  );
}

type Start = 'draft' | 'now' | 'other';

function PublishForm({
  kind,
  ruleSet,
  change,
  onClose,
  draft,
  before,
}: PublishDialogProps & {
  readonly draft: RuleSetVersion;
  readonly before: RuleSetVersion | undefined;
}) {
  const { id: projectId } = useProject();
  // If the draft has the same effective time as the previous version, nobody has chosen one.
  const [start, setStart] = useState<Start>(
    before?.effective_from === draft.effective_from ? 'now' : 'draft',
  );
  const [moment, setMoment] = useState(() => momentText(nowS()));
  const other = unixSecondsOf(moment);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const from = start === 'now' ? nowS() : start === 'other' ? other : draft.effective_from;
    const isSaved = from === draft.effective_from;
    const body = isSaved ? undefined : ({ ...bodyOf(ruleSet), effective_from: from } as RuleSetBody);
    change.mutate(body, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-6">
      <section aria-label="Changes">
        <h3 className="mb-2 text-[13px] font-semibold">
          {before === undefined ? 'First version' : `Changes since version ${before.version}`}
        </h3>
        {draft.changes === null ? (
          <p className="text-[13px] text-ink-soft">{firstVersion(kind, ruleSet)}</p>
        ) : (
          <ChangeList changes={draft.changes} omitted={draft.changes_omitted} />
        )}
        <p className="mt-2 text-xs text-ink-faint">
          To see the effect on stored usage,{' '}
          <Link
            href={`/p/${projectId}/rules/${kind}/${ruleSet.id}/backtest`}
            onClick={onClose}
            className="text-accent hover:underline"
          >
            run a backtest first
          </Link>
          .
        </p>
      </section>
      <StartChoice {...{ start, moment, draft }} onStart={setStart} onMoment={setMoment} />
      {change.isError && <FailureNote error={change.error} />}
      <DialogActions>
        <CancelButton />
        <Button
          type="submit"
          look="primary"
          isBusy={change.isPending}
          disabled={start === 'other' && other === undefined}
        >
          Publish version {ruleSet.version}
        </Button>
      </DialogActions>
    </form>
  );
}

function StartChoice({
  start,
  moment,
  draft,
  onStart,
  onMoment,
}: {
  readonly start: Start;
  readonly moment: string;
  readonly draft: RuleSetVersion;
  readonly onStart: (start: Start) => void;
  readonly onMoment: (moment: string) => void;
}) {
  const choices: readonly (readonly [Start, string])[] = [
    ['now', 'Immediately'],
    ['draft', `As set in the draft: ${dateTime(draft.effective_from, 'UTC')} UTC`],
    ['other', 'At another time (UTC)'],
  ];
  return (
    <fieldset className="flex flex-col gap-2 text-[13px]">
      <legend className="mb-2 font-semibold">Effective</legend>
      {choices.map(([value, label]) => (
        <label key={value} className="flex items-center gap-2">
          <input
            type="radio"
            name="effective"
            className="size-4 accent-accent"
            checked={start === value}
            onChange={() => onStart(value)}
          />
          {label}
        </label>
      ))}
      {start === 'other' && (
        <TextInput
          aria-label="Effective from (UTC)"
          type="datetime-local"
          step={1}
          required
          className="ml-6 w-56"
          value={moment}
          onChange={(event) => onMoment(event.target.value)}
        />
      )}
      <p className="text-xs text-ink-faint">
        Applies to events that occur from this time. Events already rated do not change.
      </p>
    </fieldset>
  );
}

function firstVersion(kind: RuleSetKind, ruleSet: RuleSet): string {
  if (kind === 'pricing') {
    const { purpose, rules, currency } = ruleSet as PricingRuleSet;
    return `${rules.length} ${purpose === 'cost' ? 'cost' : 'pricing'} ${rules.length === 1 ? 'rule' : 'rules'} in ${currency}.`;
  }
  const { charge_item_extractors: items, dimensions } = ruleSet as ExtractorRuleSet;
  return `Events will be accepted with ${items.length} charge ${
    items.length === 1 ? 'item' : 'items'
  } and ${dimensions.length} ${dimensions.length === 1 ? 'dimension' : 'dimensions'}.`;
}
