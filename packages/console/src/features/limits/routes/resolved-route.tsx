import { TriangleAlert } from 'lucide-react';
import { useProject } from '../../../project.js';
import { InlineLink } from '../../../ui/inline-link.js';
import { ReadFailure, Skeleton } from '../../../ui/states.js';
import { EVERY, type Subject, subjectName, subjectOf } from '../subjects/subject.js';
import { ALL_ROUTES, useProjectSettings, useRoutes } from './api.js';
import { PlanName } from './plan-name.js';
import { RouteAccount } from './route-account.js';
import { routingOf } from './routing.js';

/** Shows which route applies to a subject, and why. */
export function ResolvedRoute({ subject }: { readonly subject: Subject }) {
  const { id: projectId } = useProject();
  const own = useRoutes({ ...ALL_ROUTES, subject_type: subject.type, subject_id: subject.id });
  const every = useRoutes({ ...ALL_ROUTES, subject_type: subject.type, subject_id: EVERY });
  const isDenied = useProjectSettings().data?.unknown_subjects === 'deny';
  const failed = own.isError ? own : every.isError ? every : undefined;
  if (failed !== undefined) return <ReadFailure of={failed} />;
  if (own.data === undefined || every.data === undefined) return <Skeleton className="h-16" />;
  const { route, reason } = routingOf(subject, own.data.subject_routes[0], every.data.subject_routes[0]);
  return (
    <section aria-label="Route" className="flex flex-col gap-1.5 text-[13px]">
      {route === undefined ? (
        <p role="note" className="flex items-start gap-2.5 rounded-lg bg-warn-soft px-3.5 py-2.5 text-warn">
          <TriangleAlert size={16} className="mt-0.5 shrink-0" />
          {reason}
          {isDenied && ' The project denies its checks and leases.'}
        </p>
      ) : (
        <p className="text-ink-soft">{reason}</p>
      )}
      {route !== undefined && (
        <dl className="flex flex-wrap gap-x-6 gap-y-1">
          <Fact name="Route">
            <InlineLink href={`/p/${projectId}/limits/routes/${route.id}`}>
              {subjectName(subjectOf(route))}
            </InlineLink>
          </Fact>
          <Fact name="Limit plan">
            <PlanName id={route.usage_limit_plan_id} />
          </Fact>
          <Fact name="Account">
            <RouteAccount route={route} />
          </Fact>
          <Fact name="Timezone">{route.timezone}</Fact>
        </dl>
      )}
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div className="flex min-w-0 items-baseline gap-1.5">
      <dt className="text-ink-faint">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}
