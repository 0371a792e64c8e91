import type { UsageEventDetail, UsageEventRevision } from '@tollgate/contract';
import { Fragment } from 'react';
import { totalsOf } from '../../exact-sum.js';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { Amount } from '../../ui/amount.js';
import { InlineLink } from '../../ui/inline-link.js';
import { useActorNames } from '../settings/actor-names.js';
import { isRevert, itemChanges } from './revision-changes.js';

/** The corrections of an event, newest first: what each has changed, who asked for it and why. */
export function RevisionHistory({ detail }: { readonly detail: UsageEventDetail }) {
  const { revisions } = detail;
  if (revisions.length < 2) return null;
  return (
    <section aria-label="History">
      <h3 className="mb-2 text-[13px] font-semibold">History</h3>
      <ol reversed className="flex flex-col gap-2">
        {revisions.toReversed().map((revision) => (
          <li
            key={revision.revision}
            className="rounded-lg border border-line px-3 py-2.5 text-[13px] break-words"
          >
            <Revision
              revision={revision}
              before={revisions.find((other) => other.revision === revision.revision - 1)}
              isRevert={isRevert(revisions, revision)}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Revision({
  revision,
  before,
  isRevert: isReverted,
}: {
  readonly revision: UsageEventRevision;
  readonly before: UsageEventRevision | undefined;
  readonly isRevert: boolean;
}) {
  const { id } = useProject();
  const actorName = useActorNames();
  const { status, charge_items: items, correction_id: correctionId, actor, reason } = revision;
  return (
    <>
      <p className="flex flex-wrap justify-between gap-x-4">
        <span className="font-medium">
          Revision {revision.revision}
          {status !== 'processed' && `, ${status}`}
          {isReverted && ', by a revert'}
        </span>
        <span className="tabular font-medium">
          <Total items={items} />
        </span>
      </p>
      <p className="text-xs text-ink-faint">
        {dateTime(revision.created_at, 'UTC')} UTC
        {actor !== null && (
          <>
            {' '}
            by <bdi>{actorName(actor)}</bdi>
          </>
        )}
        {correctionId !== null && (
          <>
            {' · '}
            <InlineLink href={`/p/${id}/usage/corrections/${correctionId}`}>View correction</InlineLink>
          </>
        )}
      </p>
      {reason !== null && <bdi className="mt-1 block text-ink-soft">{reason}</bdi>}
      {before !== undefined && <ItemChanges before={before} revision={revision} />}
      {revision.raw_json !== undefined && <Content revision={revision} />}
    </>
  );
}

/** The JSON of a revision, where it is another than before: what was replaced can be compared with what replaced it. */
function Content({ revision: { revision, raw_json } }: { readonly revision: UsageEventRevision }) {
  return (
    <details className="mt-1.5 text-xs">
      <summary className="cursor-pointer text-ink-soft">Content of revision {revision}</summary>
      <pre className="mt-1.5 max-h-[50vh] overflow-auto rounded-lg border border-line bg-page p-3 font-mono leading-relaxed">
        {JSON.stringify(raw_json, null, 2)}
      </pre>
    </details>
  );
}

function Total({ items }: { readonly items: UsageEventRevision['charge_items'] }) {
  const totals = totalsOf(items);
  if (totals.length === 0) return items.length === 0 ? 'no charge items' : 'no price';
  return totals.map(({ amount, currency }, index) => (
    <Fragment key={currency}>
      {index > 0 && ' + '}
      <Amount value={amount} currency={currency} />
    </Fragment>
  ));
}

function ItemChanges({
  before,
  revision,
}: {
  readonly before: UsageEventRevision;
  readonly revision: UsageEventRevision;
}) {
  const changes = itemChanges(before.charge_items, revision.charge_items);
  if (changes.length === 0) return null;
  return (
    <ul
      aria-label={`Changes of revision ${revision.revision}`}
      className="tabular mt-1.5 flex flex-col gap-0.5"
    >
      {changes.map(({ metric, text }) => (
        <li key={`${metric} ${text}`} className="flex flex-wrap justify-between gap-x-4 text-xs">
          <bdi className="min-w-0">{metric}</bdi>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}
