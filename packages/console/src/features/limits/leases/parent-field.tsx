import { SUBJECT_TYPE_PATTERN } from '@tollgate/contract';
import { Field, TextInput } from '../../../ui/field.js';
import type { FieldErrors } from '../../../ui/field-errors.js';
import { useSettled } from '../../../ui/use-settled.js';
import { type Subject, subjectName, subjectOf } from '../subjects/subject.js';
import { useParentLeases, useTypedLease } from './api.js';
import type { LeaseDraft } from './lease-draft.js';
import { dimensionsText, holdText } from './lease-holds.js';

const PARENTS_LIST = 'lease-parents';
const SUBJECT_TYPE = new RegExp(SUBJECT_TYPE_PATTERN);

/** The lease to take a part of, with what it has left. */
export function ParentField({
  draft: { parentId, subject },
  errors,
  onEdit,
}: {
  readonly draft: LeaseDraft;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<LeaseDraft>) => void;
}) {
  const settled = useSettled(subject);
  return (
    <Field
      label="Part of lease"
      hint={<ParentHint parentId={parentId} />}
      error={errors.at('parent_lease_id')}
    >
      {(control) => (
        <>
          <TextInput
            {...control}
            className="w-full font-mono text-xs"
            placeholder="bl_…"
            list={PARENTS_LIST}
            value={parentId}
            onChange={(event) => onEdit({ parentId: event.target.value })}
          />
          {SUBJECT_TYPE.test(settled.type) && settled.id !== '' && <Proposals subject={settled} />}
        </>
      )}
    </Field>
  );
}

function ParentHint({ parentId }: { readonly parentId: string }) {
  const { data: parent } = useTypedLease(parentId);
  if (parent === undefined)
    return 'Optional. Takes the holds from another lease of this subject or of one above it.';
  if (parent.status !== 'active') return `This lease is ${parent.status}.`;
  const left = parent.holds.map((hold) => holdText(hold, 'remaining')).join(', ') || 'nothing';
  const inherited = [
    ...(parent.metric === null ? [] : [`the metric ${parent.metric}`]),
    ...(Object.keys(parent.dimensions).length === 0 ? [] : [dimensionsText(parent)]),
  ];
  return (
    <>
      Left in this lease of <bdi>{subjectName(subjectOf(parent))}</bdi>:{' '}
      <strong className="font-medium text-ink">{left}</strong>.
      {inherited.length > 0 && ` The part also has ${inherited.join(' and ')}.`}
    </>
  );
}

function Proposals({ subject }: { readonly subject: Subject }) {
  const { data: leases = [] } = useParentLeases(subject);
  return (
    <datalist id={PARENTS_LIST}>
      {leases.map((lease) => (
        <option key={lease.id} value={lease.id}>
          {[subjectName(subjectOf(lease)), ...lease.holds.map((hold) => holdText(hold, 'remaining'))].join(
            ', ',
          )}
        </option>
      ))}
    </datalist>
  );
}
