import { type Static, Type } from 'typebox';
import { closed, Nullable, PageQuery, pageFields, UnixSeconds } from './common.js';
import { IDENTIFIER_CHARS_MAX } from './limits.js';

/** For how long after its creation an order can be paid. */
export const CHECKOUT_MINUTES = 36;
/** An order without a page after this time never gets one. */
export const CHECKOUT_ABANDONED_MINUTES = 5;

export const PAYMENT_PROVIDERS = ['sandbox', 'stripe'] as const;
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number];

export const PaymentProviderSchema = Type.Unsafe<PaymentProviderName>({
  type: 'string',
  enum: [...PAYMENT_PROVIDERS],
  description: 'Payment provider; `sandbox` takes no money.',
});

export const PAYMENT_ORDER_STATUSES = ['pending', 'expired', 'paid'] as const;
export type PaymentOrderStatus = (typeof PAYMENT_ORDER_STATUSES)[number];

const TenantId = Type.String({ description: 'Tenant id, `ten_…`.' });
const OrderId = Type.String({ description: 'Payment order id, `ord_…`.' });
const SessionId = Type.String({ description: "The provider's id of the page." });
const SessionUrl = Type.String({
  description: 'The page on which the order is paid: redirect the browser there.',
});

export const PaymentOrderParams = Type.Object({ tenant_id: TenantId, order_id: OrderId }, closed);

export const CheckoutHeaders = Type.Object({
  'idempotency-key': Type.String({
    minLength: 1,
    maxLength: IDENTIFIER_CHARS_MAX,
    description:
      'A unique key for each purchase. Repeating a request with the same key creates no second order. Scoped to ' +
      'the tenant.',
  }),
});

export const CreateCheckoutBody = Type.Object(
  {
    plan_id: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'A subscription plan of the catalog with a price, other than `enterprise`.',
    }),
  },
  { ...closed, description: 'The plan to buy.' },
);
export type CreateCheckoutBody = Static<typeof CreateCheckoutBody>;

export const CheckoutSession = Type.Object(
  { order_id: OrderId, session_id: SessionId, session_url: SessionUrl },
  { ...closed, description: 'The order, and the page to pay it.' },
);
export type CheckoutSession = Static<typeof CheckoutSession>;

export const PaymentOrderStatusSchema = Type.Unsafe<PaymentOrderStatus>({
  type: 'string',
  enum: [...PAYMENT_ORDER_STATUSES],
  description:
    '`pending` until the order is paid, or until a later checkout finds that it has expired. A payment that ' +
    'arrives after that still makes it `paid`.',
});

export const PAYMENT_REVERSAL_KINDS = ['refund', 'dispute'] as const;
export type PaymentReversalKind = (typeof PAYMENT_REVERSAL_KINDS)[number];

export const PaymentReversal = Type.Object(
  {
    kind: Type.Unsafe<PaymentReversalKind>({ type: 'string', enum: [...PAYMENT_REVERSAL_KINDS] }),
    reference: Type.String({ description: "The provider's id of the refunded charge, or of the dispute." }),
    amount_minor: Type.Integer({
      minimum: 1,
      description: 'Amount refunded so far, or disputed, in minor units.',
    }),
    currency: Type.String({ description: 'ISO 4217 code.' }),
    reason: Nullable(Type.String({ description: "The provider's reason for the dispute." })),
    recorded_at: { ...UnixSeconds, description: 'When it was reported. Unix seconds.' },
  },
  { ...closed, description: 'A refund or a dispute of a payment.' },
);

export const PaymentOrder = Type.Object(
  {
    order_id: OrderId,
    tenant_id: TenantId,
    status: PaymentOrderStatusSchema,
    plan_id: Type.String(),
    plan_revision: Type.Integer({
      minimum: 1,
      description: 'The revision that was ordered, and is granted.',
    }),
    product_name: Type.String({ description: 'Name of the product on the payment page.' }),
    amount_minor: Type.Integer({ minimum: 1, description: 'Price in minor units: 1900 is 19.00 USD.' }),
    currency: Type.String({ description: 'ISO 4217 code.' }),
    success_url: Type.String({ description: 'The page to which the buyer returns after paying.' }),
    cancel_url: Type.String({ description: 'The page to which the buyer returns without paying.' }),
    provider: PaymentProviderSchema,
    session_id: Nullable(SessionId),
    session_url: Nullable(SessionUrl),
    payment_id: Nullable(Type.String({ description: "The provider's id of the payment." })),
    expires_at: { ...UnixSeconds, description: 'When the order expires. Unix seconds.' },
    paid_at: Nullable(UnixSeconds),
    refunded_amount_minor: Type.Integer({
      minimum: 0,
      description: 'Amount of the payment refunded so far, in minor units.',
    }),
    reversals: Type.Array(PaymentReversal, {
      description: 'Refunds and disputes of the payment, oldest first.',
    }),
    created_at: UnixSeconds,
  },
  { ...closed, description: 'An order of a plan, and its payment.' },
);
export type PaymentOrder = Static<typeof PaymentOrder>;

export const PaymentOrderQuery = Type.Object(
  { status: Type.Optional(PaymentOrderStatusSchema), ...PageQuery.properties },
  closed,
);
export type PaymentOrderQuery = Static<typeof PaymentOrderQuery>;

export const PaymentOrderList = Type.Object(
  { orders: Type.Array(PaymentOrder), ...pageFields },
  { ...closed, description: 'One page of payment orders.' },
);
export type PaymentOrderList = Static<typeof PaymentOrderList>;

export const PaymentWebhookReceipt = Type.Object(
  { received: Type.Literal(true) },
  { ...closed, description: 'The event was received.' },
);
