import { WEBHOOK_ENDPOINTS_MAX, type WebhookEndpoint } from '@tollgate/contract';
import { Plus, Webhook } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button } from '../../ui/button.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { useEndpoints } from './api.js';
import { DeliverySummary, EndpointStatus } from './delivery-summary.js';
import { EndpointDialog } from './endpoint-dialog.js';
import { SignatureHelp } from './signature-help.js';

/** The webhook endpoints of the project. */
export function EndpointsPage() {
  const { id } = useProject();
  const [, navigate] = useLocation();
  const endpoints = useEndpoints();
  const [isCreating, setCreating] = useState(false);
  const rows = endpoints.data ?? [];
  const isFull = rows.length >= WEBHOOK_ENDPOINTS_MAX;
  const mayWrite = useMay('webhooks:write');
  const create = mayWrite && (
    <Button
      look="primary"
      disabled={isFull}
      title={isFull ? `A project can have at most ${WEBHOOK_ENDPOINTS_MAX} endpoints.` : undefined}
      onClick={() => setCreating(true)}
    >
      <Plus size={15} />
      New endpoint
    </Button>
  );
  return (
    <>
      <PageHeader title="Webhooks" actions={rows.length > 0 && create} />
      <div className="flex flex-col gap-8 px-4 pb-10 sm:px-6">
        {endpoints.isError && <ReadFailure of={endpoints} />}
        {endpoints.isPending && <Skeleton className="h-40" />}
        {endpoints.data?.length === 0 && (
          <EmptyState icon={<Webhook size={20} />} title="No endpoints yet" action={create || undefined}>
            Add a URL to receive a signed message whenever usage reaches a limit or one of its alert
            thresholds.
          </EmptyState>
        )}
        {rows.length > 0 && (
          <Table
            label="Webhook endpoints"
            columns={columnsIn(id)}
            rows={rows}
            keyOf={(endpoint) => endpoint.id}
          />
        )}
        {rows.length > 0 && <SignatureHelp />}
      </div>
      <EndpointDialog
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onCreated={(created) => navigate(`/p/${id}/webhooks/${created.id}`)}
      />
    </>
  );
}

function columnsIn(projectId: string): readonly Column<WebhookEndpoint>[] {
  return [
    {
      title: 'Endpoint',
      cell: ({ id, url, description }) => (
        <>
          <Link href={`/p/${projectId}/webhooks/${id}`} title={url} className={ROW_TARGET}>
            {url}
          </Link>
          {description !== null && description !== '' && (
            <p className="truncate text-xs text-ink-faint">{description}</p>
          )}
        </>
      ),
    },
    {
      title: 'Events',
      cell: ({ event_types }) => (
        <span title={event_types.join(', ')} className="text-ink-soft">
          {event_types.includes('*') ? 'all events' : event_types.join(', ')}
        </span>
      ),
    },
    { title: 'Last deliveries', cell: ({ id }) => <DeliverySummary endpointId={id} /> },
    { title: 'Status', isTitleHidden: true, cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
  ];
}
