import type { WebhookDeliveryDetail, WebhookEndpoint } from '@tollgate/contract';
import { RotateCw } from 'lucide-react';
import { useMay } from '../../api/session.js';
import { dateTime } from '../../format.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Dialog, DialogActions } from '../../ui/dialog.js';
import { Fact, Facts } from '../../ui/facts.js';
import { FailureNote, ReadFailure, Skeleton } from '../../ui/states.js';
import { useDelivery, useEndpointChanges } from './api.js';
import { OutcomeBadge } from './delivery-summary.js';

/** Explanations of `last_error`, by the part before its colon. */
const REASONS: Readonly<Record<string, string>> = {
  timeout: 'The endpoint did not respond within five seconds.',
  name_not_resolved: 'The host name could not be resolved.',
  address_refused: 'The host has only internal addresses, to which nothing is sent.',
  connection_failed: 'The connection could not be established.',
  tls_failed: 'The TLS handshake failed. Check that the certificate is valid for this host.',
  no_answer: 'The connection was closed, or the response was not HTTP.',
};

/** One message to an endpoint: its delivery status and its request. */
export function DeliveryDialog({
  endpoint,
  messageId,
  onClose,
}: {
  readonly endpoint: WebhookEndpoint;
  readonly messageId: string;
  readonly onClose: () => void;
}) {
  const delivery = useDelivery(endpoint.id, messageId);
  return (
    <Dialog title="Delivery" description={messageId} isOpen isWide onClose={onClose}>
      {delivery.isError && <ReadFailure of={delivery} />}
      {delivery.isPending && <Skeleton className="h-64" />}
      {delivery.data !== undefined && (
        <div className="grid gap-6 lg:grid-cols-2">
          <DeliveryFacts delivery={delivery.data} />
          <SentRequest url={endpoint.url} delivery={delivery.data} />
        </div>
      )}
      {delivery.data !== undefined && <Redeliver endpoint={endpoint} messageId={messageId} />}
    </Dialog>
  );
}

function DeliveryFacts({ delivery }: { readonly delivery: WebhookDeliveryDetail }) {
  const { last_status: status, last_error: error } = delivery;
  const at = (unixS: number | null) => (unixS === null ? '—' : `${dateTime(unixS, 'UTC')} UTC`);
  const reason = REASONS[error?.split(':')[0] ?? ''];
  return (
    <section aria-label="Delivery status" className="min-w-0">
      <Facts>
        <Fact name="Status">
          <OutcomeBadge delivery={delivery} />
        </Fact>
        <Fact name="Event">{delivery.type}</Fact>
        <Fact name="Created">{at(delivery.created_at)}</Fact>
        <Fact name="Attempts">{delivery.attempts}</Fact>
        <Fact name="Last attempt">{at(delivery.last_attempt_at)}</Fact>
        <Fact name="Last response">{status === null ? (error ?? '—') : `HTTP ${status}`}</Fact>
        {delivery.status === 'pending' && <Fact name="Next attempt">{at(delivery.next_attempt_at)}</Fact>}
        {delivery.delivered_at !== null && <Fact name="Delivered">{at(delivery.delivered_at)}</Fact>}
      </Facts>
      {status === null && reason !== undefined && <p className="mt-3 text-[13px] text-ink-soft">{reason}</p>}
    </section>
  );
}

function SentRequest({ url, delivery }: { readonly url: string; readonly delivery: WebhookDeliveryDetail }) {
  const { host, pathname, search } = new URL(url);
  const head = [
    `POST ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/json',
    `webhook-id: ${delivery.message_id}`,
    'webhook-timestamp: Unix time of the attempt',
    'webhook-signature: v1,…',
  ];
  return (
    <section aria-label="Request" className="min-w-0">
      <div className="mb-2 flex items-center gap-2">
        <h3 className="mr-auto text-[13px] font-semibold">Request</h3>
        <CopyButton size="small" text={delivery.payload} label="Copy body" />
      </div>
      <pre className="max-h-[50vh] overflow-auto rounded-lg border border-line bg-page p-3 font-mono text-xs leading-relaxed">
        <span className="text-ink-faint">{head.join('\n')}</span>
        {'\n\n'}
        {readable(delivery.payload)}
      </pre>
    </section>
  );
}

function Redeliver({
  endpoint,
  messageId,
}: {
  readonly endpoint: WebhookEndpoint;
  readonly messageId: string;
}) {
  const { redeliver } = useEndpointChanges();
  const mayWrite = useMay('webhooks:write');
  if (!mayWrite) return null;
  const isDisabled = endpoint.status === 'disabled';
  return (
    <>
      {redeliver.isError && (
        <div className="mt-4">
          <FailureNote error={redeliver.error} />
        </div>
      )}
      <DialogActions>
        {isDisabled && (
          <p className="mr-auto self-center text-[13px] text-ink-soft">Enable the endpoint to redeliver.</p>
        )}
        <Button
          isBusy={redeliver.isPending}
          disabled={isDisabled}
          onClick={() => redeliver.mutate({ endpoint_id: endpoint.id, message_id: messageId })}
        >
          <RotateCw size={14} />
          Redeliver
        </Button>
      </DialogActions>
    </>
  );
}

function readable(payload: string): string {
  return JSON.stringify(JSON.parse(payload), null, 2);
}
