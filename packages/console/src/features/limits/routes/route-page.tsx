import type { SubjectRoute } from '@tollgate/contract';
import { Ellipsis, Gauge, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useMay } from '../../../api/session.js';
import { dateTime } from '../../../format.js';
import { useProject } from '../../../project.js';
import { FailedPage } from '../../../shell/failed-page.js';
import { PageHeader } from '../../../shell/page-header.js';
import { Button, IconButton } from '../../../ui/button.js';
import { ConfirmDialog } from '../../../ui/confirm-dialog.js';
import { FactGrid, type NamedFact } from '../../../ui/fact-grid.js';
import { InlineLink } from '../../../ui/inline-link.js';
import { Menu } from '../../../ui/menu.js';
import { Skeleton } from '../../../ui/states.js';
import { EVERY, type Subject, subjectHref, subjectName, subjectOf } from '../subjects/subject.js';
import { useDeleteRoute, useRoute } from './api.js';
import { DirectLimits } from './direct-limits.js';
import { PlanName } from './plan-name.js';
import { Raises } from './raises.js';
import { RouteAccount } from './route-account.js';
import { RouteDialog } from './route-dialog.js';

/** One route: its account, limit plan, calendar and direct limits. */
export function RoutePage({ routeId }: { readonly routeId: string }) {
  const { id: projectId } = useProject();
  const route = useRoute(routeId);
  if (route.isError)
    return <FailedPage above={{ label: 'Routes', href: `/p/${projectId}/limits/routes` }} of={route} />;
  if (route.data === undefined) return <Skeleton className="m-6 h-96" />;
  return (
    <>
      <PageHeader
        above={{ label: 'Routes', href: `/p/${projectId}/limits/routes` }}
        title={subjectName(subjectOf(route.data))}
        actions={<RouteActions route={route.data} />}
      />
      <div className="flex flex-col gap-7 px-4 pb-10 sm:px-6">
        <RouteFacts route={route.data} />
        <DirectLimits routeId={routeId} />
        <Raises route={route.data} />
      </div>
    </>
  );
}

function RouteActions({ route }: { readonly route: SubjectRoute }) {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  const [shown, setShown] = useState<'edit' | 'delete'>();
  const isPermitted = useMay('usage_control:write');
  const close = () => setShown(undefined);
  return (
    <>
      {route.subject_id !== EVERY && (
        <Button onClick={() => navigate(subjectHref(projectId, subjectOf(route)))}>
          <Gauge size={14} />
          View limits
        </Button>
      )}
      {isPermitted && (
        <>
          <Button onClick={() => setShown('edit')}>
            <Pencil size={14} />
            Edit
          </Button>
          <Menu
            trigger={
              <IconButton label="Actions for this route">
                <Ellipsis size={16} />
              </IconButton>
            }
            items={[
              {
                label: 'Delete',
                icon: <Trash2 size={14} />,
                isDangerous: true,
                onSelect: () => setShown('delete'),
              },
            ]}
          />
          <RouteDialog route={route} isOpen={shown === 'edit'} onClose={close} />
          <DeleteRoute route={route} isOpen={shown === 'delete'} onClose={close} />
        </>
      )}
    </>
  );
}

function DeleteRoute({
  route,
  isOpen,
  onClose,
}: {
  readonly route: SubjectRoute;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  const remove = useDeleteRoute(route.id, () => navigate(`/p/${projectId}/limits/routes`));
  const who = subjectName(subjectOf(route));
  return (
    <ConfirmDialog
      title={`Delete the route for ${who}?`}
      action="Delete route"
      change={remove}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => remove.mutate(undefined)}
    >
      {route.subject_id === EVERY
        ? `Subjects of this type without their own route will have no limits, and nobody pays for their usage.`
        : `Its direct limits are deleted too. The default route for every ${route.subject_type} applies instead. Without one, nobody pays for its usage and nothing limits it.`}{' '}
      The account, its usage and its ledger are kept.
    </ConfirmDialog>
  );
}

function ParentLink({ parent }: { readonly parent: Subject }) {
  const { id: projectId } = useProject();
  return <InlineLink href={subjectHref(projectId, parent)}>{subjectName(parent)}</InlineLink>;
}

function RouteFacts({ route }: { readonly route: SubjectRoute }) {
  const facts: readonly NamedFact[] = [
    ['Limit plan', <PlanName key="plan" id={route.usage_limit_plan_id} />],
    ...(route.parent === null
      ? []
      : [['Parent', <ParentLink key="parent" parent={subjectOf(route.parent)} />] as const]),
    ['Account', <RouteAccount key="account" route={route} />],
    ['Timezone', route.timezone],
    [
      'Week starts on',
      <span key="week" className="capitalize">
        {route.week_start}
      </span>,
    ],
    ['Period anchor', dateTime(route.usage_limit_anchor, route.timezone)],
    ['Created', dateTime(route.created_at, route.timezone)],
  ];
  return <FactGrid facts={facts} />;
}
