import type { WebhookDelivery, WebhookEndpoint } from '@tollgate/contract';
import { dateTime } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { classes } from '../../ui/classes.js';
import { Skeleton } from '../../ui/states.js';
import { useLastDeliveries } from './api.js';
import { failingSince, type Outcome, outcomeOf } from './health.js';

const COLOURS: Readonly<Record<Outcome, string>> = {
  delivered: 'bg-good',
  waiting: 'bg-line-strong',
  trying: 'bg-warn',
  failed: 'bg-bad',
  cancelled: 'bg-line-strong',
};

const TONES = {
  delivered: 'good',
  waiting: 'neutral',
  trying: 'warn',
  failed: 'bad',
  cancelled: 'neutral',
} as const satisfies Record<Outcome, string>;

/** The displayed names of outcomes. */
const NAMES: Readonly<Record<Outcome, string>> = {
  delivered: 'delivered',
  waiting: 'waiting',
  trying: 'retrying',
  failed: 'failed',
  cancelled: 'cancelled',
};

export function OutcomeBadge({ delivery }: { readonly delivery: WebhookDelivery }) {
  const outcome = outcomeOf(delivery);
  return <Badge tone={TONES[outcome]}>{NAMES[outcome]}</Badge>;
}

/** The last deliveries as coloured bars, the newest on the right. */
export function DeliverySummary({ endpointId }: { readonly endpointId: string }) {
  const { data } = useLastDeliveries(endpointId);
  if (data === undefined) return <Skeleton className="h-4 w-32" />;
  if (data.length === 0) return <span className="text-ink-faint">none yet</span>;
  const arrived = data.filter((delivery) => outcomeOf(delivery) === 'delivered').length;
  return (
    <span
      role="img"
      aria-label={`${arrived} of the last ${data.length} delivered`}
      title={`${arrived} of the last ${data.length} delivered`}
      className="inline-flex h-4 items-stretch gap-0.5 align-middle"
    >
      {data.toReversed().map((delivery) => (
        <span
          key={delivery.message_id}
          className={classes('w-1 rounded-full', COLOURS[outcomeOf(delivery)])}
        />
      ))}
    </span>
  );
}

/** The status of an endpoint. For a failing or disabled one, since when or why. */
export function EndpointStatus({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { data = [] } = useLastDeliveries(endpoint.id);
  if (endpoint.status === 'disabled') return <Badge tone="bad">{disabledText(endpoint)}</Badge>;
  const since = failingSince(data);
  if (since !== undefined) return <Badge tone="warn">failing since {dateTime(since, 'UTC')}</Badge>;
  return <Badge tone="good">enabled</Badge>;
}

function disabledText({ disabled_reason: reason }: WebhookEndpoint): string {
  return reason === 'gone' ? 'disabled: responded with 410' : 'disabled: no successful delivery for days';
}
