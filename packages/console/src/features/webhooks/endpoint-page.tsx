import { WEBHOOK_SECRET_OVERLAP_HOURS, type WebhookEndpoint } from '@tollgate/contract';
import { Ellipsis, KeyRound, Pencil, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useMay } from '../../api/session.js';
import { nowS } from '../../clock.js';
import { dateTime } from '../../format.js';
import { useProject } from '../../project.js';
import { FailedPage } from '../../shell/failed-page.js';
import { PageHeader } from '../../shell/page-header.js';
import { Button, IconButton } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Dialog } from '../../ui/dialog.js';
import { Fact, Facts } from '../../ui/facts.js';
import { Menu } from '../../ui/menu.js';
import { FailureNote, Skeleton } from '../../ui/states.js';
import { useEndpoint, useEndpointChanges } from './api.js';
import { Deliveries } from './deliveries.js';
import { DeliverySummary, EndpointStatus } from './delivery-summary.js';
import { EndpointDialog, SECRET_LOSS, SecretShown } from './endpoint-dialog.js';

/** One endpoint: its settings, status and deliveries. */
export function EndpointPage({ endpointId }: { readonly endpointId: string }) {
  const { id: projectId } = useProject();
  const endpoint = useEndpoint(endpointId);
  const above = { label: 'Webhooks', href: `/p/${projectId}/webhooks` };
  if (endpoint.isError) return <FailedPage above={above} of={endpoint} />;
  const title = endpoint.data === undefined ? 'Endpoint' : new URL(endpoint.data.url).host;
  return (
    <>
      <PageHeader
        above={above}
        title={title}
        actions={endpoint.data && <Actions endpoint={endpoint.data} />}
      />
      <div className="flex flex-col gap-6 px-4 pb-10 sm:px-6">
        {endpoint.isPending && <Skeleton className="h-40" />}
        {endpoint.data !== undefined && (
          <>
            <Overview endpoint={endpoint.data} />
            <Deliveries endpoint={endpoint.data} />
          </>
        )}
      </div>
    </>
  );
}

function Overview({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { id, url, event_types, description, previous_secret_valid_until: until } = endpoint;
  return (
    <section
      aria-label="Endpoint"
      className="flex items-start gap-4 rounded-xl border border-line bg-panel p-5 shadow-xs max-sm:flex-col-reverse max-sm:items-stretch"
    >
      <Facts>
        <Fact name="URL">
          <code className="font-mono text-xs break-all">{url}</code>
        </Fact>
        <Fact name="Events">{event_types.includes('*') ? 'all events' : event_types.join(', ')}</Fact>
        {description !== null && <Fact name="Description">{description}</Fact>}
        <Fact name="Last deliveries">
          <DeliverySummary endpointId={id} />
        </Fact>
        {until !== null && until > nowS() && (
          <Fact name="Secret">previous secret valid until {dateTime(until, 'UTC')} UTC</Fact>
        )}
      </Facts>
      <div className="flex flex-col items-start gap-2 sm:items-end">
        <EndpointStatus endpoint={endpoint} />
        {endpoint.status === 'disabled' && <Enable endpoint={endpoint} />}
      </div>
    </section>
  );
}

function Enable({ endpoint: { id, url, event_types, description } }: { readonly endpoint: WebhookEndpoint }) {
  const { update } = useEndpointChanges();
  const mayWrite = useMay('webhooks:write');
  if (!mayWrite) return null;
  const body = { url, event_types, ...(description === null ? {} : { description }) };
  return (
    <>
      <Button isBusy={update.isPending} onClick={() => update.mutate({ id, body })}>
        Enable endpoint
      </Button>
      {update.isError && <FailureNote error={update.error} />}
    </>
  );
}

type Asked = 'edit' | 'rotate' | 'delete';

function Actions({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { id: projectId } = useProject();
  const [, navigate] = useLocation();
  const { test, remove } = useEndpointChanges();
  const [asked, setAsked] = useState<Asked>();
  const mayWrite = useMay('webhooks:write');
  if (!mayWrite) return null;
  const close = () => setAsked(undefined);
  const leave = () => navigate(`/p/${projectId}/webhooks`, { replace: true });
  return (
    <>
      {test.isError && <FailureNote error={test.error} />}
      <Button onClick={() => setAsked('edit')}>
        <Pencil size={14} />
        Edit
      </Button>
      <Button
        look="primary"
        isBusy={test.isPending}
        disabled={endpoint.status === 'disabled'}
        title={endpoint.status === 'disabled' ? 'A disabled endpoint receives no messages.' : undefined}
        onClick={() => test.mutate(endpoint.id)}
      >
        <Send size={14} />
        Send test
      </Button>
      <Menu
        trigger={
          <IconButton label="Actions for this endpoint">
            <Ellipsis size={16} />
          </IconButton>
        }
        items={[
          { label: 'Rotate secret', icon: <KeyRound size={14} />, onSelect: () => setAsked('rotate') },
          {
            label: 'Delete endpoint',
            icon: <Trash2 size={14} />,
            isDangerous: true,
            onSelect: () => setAsked('delete'),
          },
        ]}
      />
      <EndpointDialog endpoint={endpoint} isOpen={asked === 'edit'} onClose={close} />
      <RotateDialogs endpointId={endpoint.id} isOpen={asked === 'rotate'} onClose={close} />
      <ConfirmDialog
        title="Delete this endpoint?"
        action="Delete endpoint"
        change={remove}
        isOpen={asked === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutate(endpoint.id, { onSuccess: leave })}
      >
        <bdi>{endpoint.url}</bdi> will receive no further messages, and its delivery history is removed. This
        cannot be undone.
      </ConfirmDialog>
    </>
  );
}

/** Asks for confirmation, then shows the new secret. */
function RotateDialogs({
  endpointId,
  isOpen,
  onClose,
}: {
  readonly endpointId: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const { rotate } = useEndpointChanges();
  const close = () => {
    rotate.reset();
    onClose();
  };
  return (
    <>
      <ConfirmDialog
        title="Rotate the secret?"
        action="Rotate secret"
        change={rotate}
        isOpen={isOpen && rotate.data === undefined}
        onClose={close}
        onConfirm={() => rotate.mutate(endpointId)}
      >
        Messages are signed with a new secret from now on. For {WEBHOOK_SECRET_OVERLAP_HOURS} hours they are
        also signed with the current secret, so that you have time to update your server.
      </ConfirmDialog>
      <Dialog
        title="Copy the new secret now"
        isOpen={rotate.data !== undefined}
        isDirty
        loss={SECRET_LOSS}
        onClose={close}
      >
        {rotate.data !== undefined && <SecretShown secret={rotate.data.secret} onClose={close} />}
      </Dialog>
    </>
  );
}
