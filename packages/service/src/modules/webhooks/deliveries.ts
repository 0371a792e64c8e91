import { WEBHOOK_TEST_EVENT, type WebhookDeliveryStatus } from '@tollgate/contract';
import type { ChangeContext } from '../../kernel/change-context.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { Page } from '../../kernel/page.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { type Postgres, ProjectDb, ProjectTx, type Tx, transaction } from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import * as store from './delivery-store.js';
import { holdEndpoint, readEndpoint } from './endpoint-store.js';
import { foundEndpoint } from './endpoints.js';
import { emitTo } from './outbox-store.js';

export interface DeliveriesDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
}

/** Past and pending deliveries to endpoints. */
export class WebhookDeliveries {
  readonly #deps: DeliveriesDeps;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
  }

  /** @throws DomainError `not_found` */
  async list(
    owner: ProjectScope,
    endpointId: string,
    page: Page & { readonly status: WebhookDeliveryStatus | undefined },
  ) {
    const db = new ProjectDb(this.#deps.postgres.db, owner);
    foundEndpoint(await readEndpoint(db, endpointId));
    return store.listDeliveries(db, endpointId, page);
  }

  /**
   * Returns one delivery with the posted body.
   *
   * @throws DomainError `not_found`
   */
  async read(
    owner: ProjectScope,
    endpointId: string,
    messageId: string,
  ): Promise<{ delivery: store.StoredDelivery; payload: string }> {
    const db = new ProjectDb(this.#deps.postgres.db, owner);
    return {
      delivery: foundEndpoint(await store.readDelivery(db, endpointId, messageId)),
      payload: foundEndpoint(await store.readPayload(db, endpointId, messageId)),
    };
  }

  /**
   * Queues a test message without content, for this endpoint only.
   *
   * @throws DomainError `not_found`, `webhook_endpoint_disabled`
   */
  async test(context: ChangeContext, endpointId: string): Promise<store.StoredDelivery> {
    return this.#queue(context, endpointId, 'test', (tx, atMs) =>
      emitTo(new ProjectTx(tx, context.project), endpointId, {
        type: WEBHOOK_TEST_EVENT,
        data: { webhook_endpoint_id: endpointId, project_id: context.project.projectId },
        atMs,
      }),
    );
  }

  /**
   * Queues a message again, with the same id.
   *
   * @throws DomainError `not_found`, `webhook_endpoint_disabled`
   */
  async redeliver(
    context: ChangeContext,
    endpointId: string,
    messageId: string,
  ): Promise<store.StoredDelivery> {
    return this.#queue(context, endpointId, 'redeliver', async (tx, atMs) => {
      if (!(await store.restartDelivery(new ProjectTx(tx, context.project), endpointId, messageId, atMs))) {
        throw new DomainError('not_found');
      }
      return messageId;
    });
  }

  async #queue(
    context: ChangeContext,
    endpointId: string,
    verb: string,
    work: (tx: Tx, atMs: number) => Promise<string>,
  ): Promise<store.StoredDelivery> {
    const { project, principal, requestId } = context;
    const atMs = this.#deps.clock.nowMs();
    return transaction(this.#deps.postgres, async (tx) => {
      const own = new ProjectTx(tx, project);
      const endpoint = foundEndpoint(await holdEndpoint(own, endpointId));
      const messageId = await work(tx, atMs);
      // Rolls back the restart; an absent delivery is reported first.
      if (endpoint.disabled_at !== null) throw new DomainError('webhook_endpoint_disabled');
      await audit(tx, {
        tenantId: project.tenantId,
        projectId: project.projectId,
        principal,
        action: `webhook_endpoint.${verb}`,
        resourceType: 'webhook_endpoint',
        resourceId: endpointId,
        change: { message_id: messageId },
        requestId,
        atMs,
      });
      return foundEndpoint(await store.readDelivery(own, endpointId, messageId));
    });
  }
}
