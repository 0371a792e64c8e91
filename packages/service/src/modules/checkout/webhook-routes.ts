import { PaymentWebhookReceipt } from '@tollgate/contract';
import { Type } from 'typebox';
import type { App } from '../../platform/http/index.js';
import type { OrderSettlement } from './settlement.js';

export const PAYMENT_WEBHOOK_URL = '/v1/payments/provider/webhook';
/** Events of payments have a few KiB. */
const EVENT_BYTES_MAX = 262_144;

/** Registers the webhook on which the payment provider reports payments, refunds and disputes. */
export function registerPaymentWebhookRoutes(app: App, settlement: OrderSettlement): void {
  // A scope with a parser of its own: the signature covers the received bytes, and nothing unsigned is worth parsing.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) =>
      done(null, bytes),
    );
    registerWebhook(scope as App, settlement);
  });
}

function registerWebhook(app: App, settlement: OrderSettlement): void {
  app.route({
    method: 'POST',
    url: PAYMENT_WEBHOOK_URL,
    config: { access: { kind: 'public' } },
    bodyLimit: EVENT_BYTES_MAX,
    schema: {
      tags: ['Plans'],
      summary: 'Webhook of the payment provider',
      description:
        'Grants the paid plan on `payment_intent.succeeded`; records `charge.refunded` and `charge.dispute.created` of such a payment. A payment that does not match an order is refused. Other events, and refunds and disputes of other payments, are ignored. Authenticated by `Payment-Signature` or `Stripe-Signature` over the bytes of the body.',
      operationId: 'receivePaymentEvent',
      body: Type.Unsafe<Buffer>({ description: 'An event, as Stripe sends it.' }),
      response: { 200: PaymentWebhookReceipt },
    },
    handler: async ({ body, headers, id }) => {
      const header = headers['payment-signature'] ?? headers['stripe-signature'];
      await settlement.receive({ body: body ?? Buffer.alloc(0), header: header?.toString() }, id);
      return { received: true as const };
    },
  });
}
