import { type Static, Type } from 'typebox';
import { closed, Nullable, PageQuery, pageFields, UnixSeconds } from './common.js';
import { Warnings } from './warnings.js';

/** Upper bound of the endpoints of one project. */
export const WEBHOOK_ENDPOINTS_MAX = 20;
export const WEBHOOK_URL_CHARS_MAX = 2_048;
export const WEBHOOK_EVENT_TYPES_MAX = 50;
export const WEBHOOK_DESCRIPTION_CHARS_MAX = 500;
/** For how long after a rotation the previous secret signs, too. */
export const WEBHOOK_SECRET_OVERLAP_HOURS = 24;
/** Timeout of one attempt, from the look-up of the name to the end of the response. */
export const WEBHOOK_TIMEOUT_MS = 5_000;
/** For how long messages and their deliveries are kept. */
export const WEBHOOK_KEPT_DAYS = 30;

/** Name of an event; anchored. */
export const WEBHOOK_EVENT_TYPE_PATTERN = '^[A-Za-z][A-Za-z0-9_.-]{0,127}$';
/** Sent when usage falls below a limit, or a percentage of it, that it had reached. */
export const USAGE_RECOVERED_EVENT = 'usage_limit.recovered';
/** Sent when a charge item without a price was recorded. */
export const USAGE_UNPRICED_EVENT = 'usage.unpriced';
/** Sent when an event could not be rated. */
export const USAGE_FAILED_EVENT = 'usage.failed';
/**
 * Upper bound of the metrics, and of the failure codes, of one project that the two events above report in one hour;
 * further ones are not sent.
 */
export const USAGE_ALERTS_PER_HOUR_MAX = 50;
/** The events that the service names itself; rules of limits can name others. */
export const WEBHOOK_OWN_EVENTS = [
  'usage_limit.exceeded',
  'usage_limit.threshold_reached',
  USAGE_RECOVERED_EVENT,
  USAGE_UNPRICED_EVENT,
  USAGE_FAILED_EVENT,
  'payment.refunded',
  'payment.disputed',
] as const;
/** The entry with which an endpoint subscribes to every event. */
export const WEBHOOK_EVERY_EVENT = '*';
/** The event that a test sends, whatever the endpoint's list. */
export const WEBHOOK_TEST_EVENT = 'webhook.test';

export const WEBHOOK_DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];
export const WEBHOOK_DISABLED_REASONS = ['gone', 'failing'] as const;
export type WebhookDisabledReason = (typeof WEBHOOK_DISABLED_REASONS)[number];

export const WebhookDeliveryStatusSchema = Type.Unsafe<WebhookDeliveryStatus>({
  type: 'string',
  enum: [...WEBHOOK_DELIVERY_STATUSES],
  description:
    '`pending`: no 2xx response yet, will be tried again; `failed`: all attempts failed; `cancelled`: the endpoint ' +
    'was disabled before the delivery succeeded.',
});

export const WebhookEndpointInput = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: WEBHOOK_URL_CHARS_MAX,
      description:
        'Where messages are posted: `https://…` or `http://…`, any port, without credentials and fragment. It must not lead to an internal address.',
    }),
    event_types: Type.Array(
      Type.String({ pattern: `^\\*$|${WEBHOOK_EVENT_TYPE_PATTERN}`, description: 'Name of an event.' }),
      {
        minItems: 1,
        maxItems: WEBHOOK_EVENT_TYPES_MAX,
        uniqueItems: true,
        description: 'Names of the events to send, or `["*"]` for all events.',
      },
    ),
    description: Type.Optional(Type.String({ maxLength: WEBHOOK_DESCRIPTION_CHARS_MAX })),
  },
  { ...closed, description: 'A URL, and the events to send to it.' },
);
export type WebhookEndpointInput = Static<typeof WebhookEndpointInput>;

const endpointFields = {
  id: Type.String({ description: 'Endpoint id, `whe_…`.' }),
  tenant_id: Type.String(),
  project_id: Type.String(),
  url: Type.String(),
  event_types: Type.Array(Type.String()),
  description: Nullable(Type.String()),
  status: Type.Unsafe<'enabled' | 'disabled'>({
    type: 'string',
    enum: ['enabled', 'disabled'],
    description: 'A disabled endpoint gets no messages. To enable it again, update it with PUT.',
  }),
  disabled_reason: Nullable(
    Type.Unsafe<WebhookDisabledReason>({
      type: 'string',
      enum: [...WEBHOOK_DISABLED_REASONS],
      description: '`gone`: the endpoint returned 410. `failing`: nothing could be delivered for days.',
    }),
  ),
  disabled_at: Nullable(UnixSeconds),
  previous_secret_valid_until: Nullable(
    Type.Integer({
      description: 'Unix seconds until which messages are signed with the previous secret, too.',
    }),
  ),
  created_at: UnixSeconds,
  updated_at: UnixSeconds,
};

export const WebhookEndpoint = Type.Object(endpointFields, {
  ...closed,
  description: 'A webhook endpoint, without its secret.',
});
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const SavedWebhookEndpoint = Type.Object(
  { ...endpointFields, warnings: Warnings },
  { ...closed, description: 'The webhook endpoint as it was saved, with warnings about it.' },
);
export type SavedWebhookEndpoint = Static<typeof SavedWebhookEndpoint>;

export const WebhookEndpointWithSecret = Type.Object(
  {
    ...endpointFields,
    secret: Type.String({
      description: '`whsec_` and the signing key in base64. Store it: it is not shown again.',
    }),
  },
  { ...closed, description: 'The webhook endpoint, with its new secret.' },
);
export type WebhookEndpointWithSecret = Static<typeof WebhookEndpointWithSecret>;

export const CreatedWebhookEndpoint = Type.Object(
  { ...WebhookEndpointWithSecret.properties, warnings: Warnings },
  { ...closed, description: 'The new webhook endpoint, with its secret and warnings about it.' },
);
export type CreatedWebhookEndpoint = Static<typeof CreatedWebhookEndpoint>;

export const WebhookEndpointPage = Type.Object(
  { webhook_endpoints: Type.Array(WebhookEndpoint, { description: 'Newest first.' }), ...pageFields },
  { ...closed, description: 'One page of webhook endpoints.' },
);
export type WebhookEndpointPage = Static<typeof WebhookEndpointPage>;

const deliveryFields = {
  message_id: Type.String({ description: 'Message id, `msg_…`: the header `webhook-id`.' }),
  endpoint_id: Type.String(),
  type: Type.String({ description: 'Name of the event.' }),
  status: WebhookDeliveryStatusSchema,
  attempts: Type.Integer({
    minimum: 0,
    description: 'Attempts since the delivery was created or last requested again.',
  }),
  next_attempt_at: Nullable(UnixSeconds),
  last_attempt_at: Nullable(UnixSeconds),
  last_status: Nullable(Type.Integer({ description: 'HTTP status of the last response, if there was one.' })),
  last_error: Nullable(Type.String({ description: 'Why there was no response, e.g. `timeout`.' })),
  delivered_at: Nullable(UnixSeconds),
  created_at: UnixSeconds,
};

export const WebhookDelivery = Type.Object(deliveryFields, {
  ...closed,
  description: 'A message to an endpoint, with the status of its delivery.',
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveryDetail = Type.Object(
  {
    ...deliveryFields,
    payload: Type.String({ description: 'The body as it is signed and posted, byte for byte: JSON.' }),
  },
  { ...closed, description: 'A message to an endpoint, with its body and the status of its delivery.' },
);
export type WebhookDeliveryDetail = Static<typeof WebhookDeliveryDetail>;

export const WebhookDeliveryListQuery = Type.Object(
  {
    ...PageQuery.properties,
    status: Type.Optional(WebhookDeliveryStatusSchema),
  },
  closed,
);
export type WebhookDeliveryListQuery = Static<typeof WebhookDeliveryListQuery>;

export const WebhookDeliveryPage = Type.Object(
  { deliveries: Type.Array(WebhookDelivery, { description: 'Newest message first.' }), ...pageFields },
  { ...closed, description: 'One page of deliveries.' },
);
export type WebhookDeliveryPage = Static<typeof WebhookDeliveryPage>;

/** Fields of both events about usage. */
export interface UsageAlertData {
  readonly project_id: string;
  /** Unix seconds: start of the clock hour (UTC) in which the usage was rated. */
  readonly hour: number;
  /** One of the events, and when it occurred (Unix seconds). */
  readonly raw_event_id: string;
  readonly occurred_at: number;
  readonly extractor_rule_set_id: string;
}

/** `data` of `usage.unpriced`: sent for the first charge items of a project, metric and hour. */
export interface UsageUnpricedData extends UsageAlertData {
  readonly metric: string;
  /** Charge items of the metric without a price when this was sent; more can have followed. */
  readonly item_count: number;
}

/** `data` of `usage.failed`: sent for the first events of a project, failure code and hour. */
export interface UsageFailedData extends UsageAlertData {
  readonly code: string;
  /** The failure of the event named above. */
  readonly message: string;
  readonly path: string | null;
  /** Events that had failed with the code when this was sent; more can have followed. */
  readonly event_count: number;
}

/** The body of a request to an endpoint. */
export interface WebhookPayload {
  readonly type: string;
  /** When the event happened, ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly data: unknown;
}
