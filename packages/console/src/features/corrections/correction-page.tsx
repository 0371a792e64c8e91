import type { Correction } from '@tollgate/contract';
import { useMay } from '../../api/session.js';
import { count, dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/page-header.js';
import { Fact, Facts } from '../../ui/facts.js';
import { InlineLink } from '../../ui/inline-link.js';
import { ProgressBar } from '../../ui/progress-bar.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { type RuleSetKind, useRuleSet } from '../rules/api.js';
import { useActorNames } from '../settings/actor-names.js';
import { isInProgress, useCorrection } from './api.js';
import { changesOf } from './changes-of.js';
import { CorrectionActions } from './correction-actions.js';
import { CorrectionExamples } from './correction-examples.js';
import { describeFilter, listAddress } from './correction-filter.js';
import { CorrectionBadge, correctionTitle } from './correction-labels.js';
import { CorrectionTotals } from './correction-totals.js';
import { eventsText, stateText } from './state-text.js';

/** One correction: what it would change or has changed, and what can be done with it. */
export function CorrectionPage({ correctionId }: { readonly correctionId: string }) {
  const { id } = useProject();
  const above = { label: 'Corrections', href: `/p/${id}/usage/corrections` };
  const mayRead = useMay('usage:read');
  const correction = useCorrection(correctionId);
  if (!mayRead) {
    return (
      <>
        <PageHeader above={above} title="Correction" />
        <EmptyState title="You cannot view corrections">This key lacks the permission usage:read.</EmptyState>
      </>
    );
  }
  if (correction.data === undefined) {
    return (
      <>
        <PageHeader above={above} title="Correction" />
        <div className="px-4 sm:px-6">
          {correction.isError ? <ReadFailure of={correction} /> : <Skeleton className="h-96" />}
        </div>
      </>
    );
  }
  return (
    <>
      <PageHeader
        above={above}
        title={correctionTitle(correction.data)}
        actions={<CorrectionActions correction={correction.data} />}
      />
      <div className="flex flex-col gap-6 px-4 pb-10 sm:px-6">
        <Outcome correction={correction.data} />
        <CorrectionFacts correction={correction.data} />
        <Changes correction={correction.data} />
      </div>
    </>
  );
}

/** The state of the correction in a sentence, and its progress. */
function Outcome({ correction }: { readonly correction: Correction }) {
  const { status, failure } = correction;
  return (
    <section aria-label="State" className="flex flex-col gap-3">
      <p role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px]">
        <CorrectionBadge status={status} />
        <span>{stateText(correction)}</span>
      </p>
      {isInProgress(status) && <Progress correction={correction} />}
      {failure !== null && (
        <p role="alert" className="rounded-lg bg-bad-soft px-3.5 py-2.5 text-[13px] text-bad">
          {failure.message} <code className="font-mono text-xs">{failure.code}</code>
        </p>
      )}
      {/* A replacement that fails has said so above. */}
      {status !== 'failed' && <FailedEvents counts={correction.events_failed} />}
    </section>
  );
}

const VERBS = { planning: 'Events read', applying: 'Events changed', reverting: 'Events reverted' } as const;

function Progress({ correction: { status, progress } }: { readonly correction: Correction }) {
  const { events_done: done, events_total: total } = progress;
  const label = status in VERBS ? VERBS[status as keyof typeof VERBS] : status;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <ProgressBar label={label} share={total === null || total === 0 ? 0 : done / total} />
      <span className="tabular text-[13px] text-ink-soft">
        {label}: {count(done)}
        {total !== null && ` of ${count(total)}`}
      </span>
    </div>
  );
}

/** Events that keep their result because the new rules cannot rate them. */
function FailedEvents({ counts }: { readonly counts: Correction['events_failed'] }) {
  if (counts.length === 0) return null;
  return (
    <div className="rounded-lg bg-warn-soft px-3.5 py-2.5 text-[13px] text-warn">
      <h2 className="font-semibold">Would fail, and keep their result</h2>
      <ul>
        {counts.map(({ code, count: events }) => (
          <li key={code}>
            {eventsText(events)}, <code className="font-mono text-xs">{code}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

function CorrectionFacts({ correction }: { readonly correction: Correction }) {
  const actorName = useActorNames();
  const { reason, created_by, created_at, raw_event_id: eventId } = correction;
  const { applied_at, applied_by, reverted_at, reverted_by } = correction;
  const { id } = useProject();
  return (
    <section aria-label="Details" className="grid items-start gap-x-10 gap-y-1.5 lg:grid-cols-2">
      <Facts>
        <Fact name="Reason">
          <bdi>{reason}</bdi>
        </Fact>
        <Fact name="Requested by">
          <bdi>{actorName(created_by)}</bdi>
        </Fact>
        <Fact name="Requested">{dateTime(created_at, 'UTC')} UTC</Fact>
        {applied_by !== null && applied_by !== created_by && (
          <Fact name="Applied by">
            <bdi>{actorName(applied_by)}</bdi>
          </Fact>
        )}
        {applied_at !== null && <Fact name="Applied">{dateTime(applied_at, 'UTC')} UTC</Fact>}
        {reverted_by !== null && (
          <Fact name="Reverted by">
            <bdi>{actorName(reverted_by)}</bdi>
          </Fact>
        )}
        {reverted_at !== null && <Fact name="Reverted">{dateTime(reverted_at, 'UTC')} UTC</Fact>}
        <Fact name="ID">
          <code className="font-mono text-xs">{correction.id}</code>
        </Fact>
      </Facts>
      <Facts>
        {eventId !== null && (
          <Fact name="Event">
            <InlineLink href={`/p/${id}/usage?event=${eventId}`}>{eventId}</InlineLink>
          </Fact>
        )}
        <FilterFacts correction={correction} />
        {correction.action === 'rerate' && <RulesFacts correction={correction} />}
      </Facts>
    </section>
  );
}

function FilterFacts({ correction: { filter } }: { readonly correction: Correction }) {
  const { id } = useProject();
  if (filter === null) return null;
  return (
    <>
      {describeFilter(filter).map(([name, value]) => (
        <Fact key={name} name={name}>
          <bdi>{value}</bdi>
        </Fact>
      ))}
      <Fact name="Events">
        <InlineLink href={`/p/${id}/usage?${listAddress(filter)}`}>Show matching events</InlineLink>
      </Fact>
    </>
  );
}

function RulesFacts({ correction: { rules, backtest_id: backtest } }: { readonly correction: Correction }) {
  const { id } = useProject();
  const mayReadRules = useMay('rules:read');
  if (backtest !== null) return <Fact name="Rules">Rules and events of the backtest {backtest}</Fact>;
  const { extractor, pricing } = rules ?? {};
  const link = (kind: RuleSetKind, ruleSet: { readonly id: string; readonly version: number }) => (
    <InlineLink key={ruleSet.id} href={`/p/${id}/rules/${kind}/${ruleSet.id}`}>
      {mayReadRules ? <RuleSetName kind={kind} id={ruleSet.id} /> : ruleSet.id}, version {ruleSet.version}
    </InlineLink>
  );
  return (
    <>
      <Fact name="Extractor rules">
        {extractor === undefined ? 'As published' : link('extractor', extractor)}
      </Fact>
      <Fact name="Prices">
        {pricing === undefined ? (
          'As published'
        ) : pricing.length === 0 ? (
          'None'
        ) : (
          <span className="flex flex-col">{pricing.map((ruleSet) => link('pricing', ruleSet))}</span>
        )}
      </Fact>
    </>
  );
}

function RuleSetName({ kind, id }: { readonly kind: RuleSetKind; readonly id: string }) {
  const { data } = useRuleSet(kind, id);
  return <bdi>{data?.name ?? id}</bdi>;
}

/** Planned changes, and those in force where they are others. */
function Changes({ correction }: { readonly correction: Correction }) {
  return (
    <>
      {changesOf(correction).map((changes) => (
        <CorrectionTotals key={changes.label} {...changes} />
      ))}
      {correction.examples.length > 0 && <CorrectionExamples examples={correction.examples} />}
    </>
  );
}
