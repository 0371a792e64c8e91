import {
  WEBHOOK_DELIVERY_STATUSES,
  type WebhookDelivery,
  type WebhookDeliveryStatus,
  type WebhookEndpoint,
} from '@tollgate/contract';
import { RotateCw, Send } from 'lucide-react';
import { useState } from 'react';
import { useAddress } from '../../address.js';
import { useMay } from '../../api/session.js';
import { dateTime } from '../../format.js';
import { Button } from '../../ui/button.js';
import { Select } from '../../ui/field.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { type Column, ROW_TARGET, Table } from '../../ui/table.js';
import { useDeliveries } from './api.js';
import { DeliveryDialog } from './delivery-dialog.js';
import { OutcomeBadge } from './delivery-summary.js';
import { RedeliverDialog } from './redeliver-dialog.js';

const STATUS_OPTIONS: readonly { readonly value: WebhookDeliveryStatus | ''; readonly label: string }[] = [
  { value: '', label: 'All deliveries' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
];

/**
 * The deliveries to an endpoint and their status. The filter and the opened delivery are in the address.
 */
export function Deliveries({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const [parameters, changeAddress] = useAddress();
  const status = WEBHOOK_DELIVERY_STATUSES.find((each) => each === parameters.get('status')) ?? '';
  const messageId = parameters.get('message');
  const [isRedelivering, setRedelivering] = useState(false);
  const mayWrite = useMay('webhooks:write');
  return (
    <section aria-label="Deliveries" className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="mr-auto text-[15px] font-semibold">Deliveries</h2>
        <Select
          aria-label="Status"
          options={STATUS_OPTIONS}
          value={status}
          onChange={(chosen) => changeAddress({ status: chosen })}
        />
        {mayWrite && (
          <Button disabled={endpoint.status === 'disabled'} onClick={() => setRedelivering(true)}>
            <RotateCw size={14} />
            Redeliver failed…
          </Button>
        )}
      </div>
      <DeliveryList
        endpointId={endpoint.id}
        status={status}
        onChoose={(delivery) => changeAddress({ message: delivery.message_id })}
      />
      {messageId !== null && (
        <DeliveryDialog
          endpoint={endpoint}
          messageId={messageId}
          onClose={() => changeAddress({ message: undefined })}
        />
      )}
      <RedeliverDialog
        endpointId={endpoint.id}
        isOpen={isRedelivering}
        onClose={() => setRedelivering(false)}
      />
    </section>
  );
}

function DeliveryList({
  endpointId,
  status,
  onChoose,
}: {
  readonly endpointId: string;
  readonly status: WebhookDeliveryStatus | '';
  readonly onChoose: (delivery: WebhookDelivery) => void;
}) {
  const deliveries = useDeliveries(endpointId, status);
  const rows = deliveries.data?.pages.flatMap((page) => page.deliveries) ?? [];
  return (
    <>
      {deliveries.isError && <ReadFailure of={deliveries} />}
      {deliveries.isPending && <Skeleton className="h-64" />}
      {deliveries.isSuccess && rows.length === 0 && (
        <EmptyState
          icon={<Send size={20} />}
          title={status === '' ? 'No deliveries yet' : `No ${status} deliveries`}
        >
          {status === '' ? 'Send a test message to check your endpoint.' : 'Choose another status above.'}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Table
          label="Deliveries"
          columns={columnsOf(onChoose)}
          rows={rows}
          keyOf={({ message_id }) => message_id}
        />
      )}
      {deliveries.hasNextPage && (
        <Button
          className="self-center"
          isBusy={deliveries.isFetchingNextPage}
          onClick={() => void deliveries.fetchNextPage()}
        >
          Show older
        </Button>
      )}
    </>
  );
}

function columnsOf(onChoose: (delivery: WebhookDelivery) => void): readonly Column<WebhookDelivery>[] {
  return [
    {
      title: 'Created (UTC)',
      cell: (delivery) => (
        <button type="button" className={ROW_TARGET} onClick={() => onChoose(delivery)}>
          {dateTime(delivery.created_at, 'UTC')}
        </button>
      ),
    },
    { title: 'Event', cell: ({ type }) => <code className="font-mono text-xs">{type}</code> },
    { title: 'Last response', cell: (delivery) => responseText(delivery) },
    { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
    {
      title: 'Next attempt (UTC)',
      cell: ({ next_attempt_at, status }) =>
        status === 'pending' && next_attempt_at !== null ? dateTime(next_attempt_at, 'UTC') : '—',
    },
    {
      title: 'Status',
      isTitleHidden: true,
      isNumber: true,
      cell: (delivery) => <OutcomeBadge delivery={delivery} />,
    },
  ];
}

/** The last response status, or the error if there was no response. */
function responseText({ last_status, last_error }: WebhookDelivery): string {
  if (last_status !== null) return String(last_status);
  return last_error ?? '—';
}
