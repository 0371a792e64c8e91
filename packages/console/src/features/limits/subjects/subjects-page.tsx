import { Gauge as GaugeIcon } from 'lucide-react';
import { useLocation, useSearchParams } from 'wouter';
import { useMay } from '../../../api/session.js';
import { useProject } from '../../../project.js';
import { InlineLink } from '../../../ui/inline-link.js';
import { EmptyState, ReadFailure, Skeleton } from '../../../ui/states.js';
import { SubjectLeases } from '../leases/subject-leases.js';
import { ALL_ROUTES, useRoute, useRoutes } from '../routes/api.js';
import { ResolvedRoute } from '../routes/resolved-route.js';
import { useSubjectLimits } from './api.js';
import { BlockedNote } from './blocked-note.js';
import { Crossings } from './crossings.js';
import { LevelLimits } from './level-limits.js';
import { RecentSubjects } from './recent-subjects.js';
import { type Subject, subjectHref, subjectName } from './subject.js';
import { SubjectForm } from './subject-form.js';
import { SubjectTree } from './subject-tree.js';

/** Limits, recent alerts and leases of one subject. */
export function SubjectsPage() {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  const [parameters] = useSearchParams();
  const subject = { type: parameters.get('type') ?? '', id: parameters.get('id') ?? '' };
  const key = subjectName(subject);
  const isChosen = subject.type !== '' && subject.id !== '';
  return (
    <div className="flex flex-col gap-6 px-4 pb-10 sm:px-6">
      <SubjectForm
        key={`form ${key}`}
        initial={subject}
        action="Show limits"
        onSubmit={(chosen) => navigate(subjectHref(projectId, chosen))}
      />
      {isChosen ? <SubjectView key={key} subject={subject} /> : <NoSubject />}
    </div>
  );
}

/** Asks for a subject or, in a project without routes, says how to begin: no subject has limits there. */
function NoSubject() {
  const { id: projectId } = useProject();
  const mayRead = useMay('usage:read');
  const routes = useRoutes(ALL_ROUTES);
  const icon = <GaugeIcon size={20} />;
  if (routes.isPending) return null;
  if (routes.data?.total_count === 0) {
    return (
      <EmptyState icon={icon} title="No limits yet">
        First create a <InlineLink href={`/p/${projectId}/limits/plans`}>limit plan</InlineLink> and publish
        it. Then create a <InlineLink href={`/p/${projectId}/limits/routes`}>route</InlineLink> that assigns
        it to your customers.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={icon} title="Look up a subject" action={mayRead ? <RecentSubjects /> : undefined}>
      Enter a subject type, such as customer, and an ID, as your events send them. You see the status of its
      limits, recent alerts and budget leases.
    </EmptyState>
  );
}

function SubjectView({ subject }: { readonly subject: Subject }) {
  const snapshot = useSubjectLimits(subject);
  const routeId = snapshot.data?.rule_account_id ?? null;
  const route = useRoute(routeId);
  if (snapshot.isError) return <ReadFailure of={snapshot} />;
  if (snapshot.data === undefined || (routeId !== null && route.isPending))
    return <Skeleton className="h-80" />;
  const timezone = route.data?.timezone ?? 'UTC';
  return (
    <>
      <div className="flex flex-col gap-3">
        <h2 className="text-lg font-semibold tracking-tight break-words">{subjectName(subject)}</h2>
        <ResolvedRoute subject={subject} />
        <SubjectTree subject={subject} />
        <BlockedNote limits={snapshot.data.limits} />
      </div>
      {snapshot.data.limits.length === 0 ? (
        <EmptyState
          icon={<GaugeIcon size={20} />}
          title={routeId === null ? 'No route, so no limits' : 'No limits'}
        >
          {routeId === null
            ? 'Under Routes, create a route for this subject or a default route for its type.'
            : 'Its route has no limit plan and no direct limits.'}
        </EmptyState>
      ) : (
        <LevelLimits limits={snapshot.data.limits} timezone={timezone} />
      )}
      <Crossings subject={subject} timezone={timezone} />
      <SubjectLeases subject={subject} timezone={timezone} />
    </>
  );
}
