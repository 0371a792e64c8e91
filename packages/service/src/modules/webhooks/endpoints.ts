import {
  type Warning,
  WEBHOOK_ENDPOINTS_MAX,
  WEBHOOK_EVERY_EVENT,
  WEBHOOK_OWN_EVENTS,
  WEBHOOK_SECRET_OVERLAP_HOURS,
  WEBHOOK_TEST_EVENT,
  type WebhookEndpointInput,
  warningsOf,
} from '@tollgate/contract';
import type { ChangeContext } from '../../kernel/change-context.js';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { Page } from '../../kernel/page.js';
import type { ProjectScope } from '../../kernel/scope.js';
import {
  type Postgres,
  ProjectDb,
  ProjectTx,
  TenantTx,
  type Tx,
  transaction,
} from '../../platform/postgres/index.js';
import { audit, lockProject } from '../tenancy/index.js';
import { cancelIfDisabled, deleteDeliveries } from './delivery-store.js';
import * as store from './endpoint-store.js';
import { endpointUrlProblem } from './endpoint-url.js';
import { newSecret } from './signature.js';

const SECONDS_PER_HOUR = 3_600;
/**
 * Upper bound of the deliveries that are deleted or cancelled in one transaction: others wait for rows that it has
 * locked.
 */
const CHANGED_DELIVERIES_MAX = 5_000;
const NAMED_BY_SERVICE: ReadonlySet<string> = new Set([
  ...WEBHOOK_OWN_EVENTS,
  WEBHOOK_EVERY_EVENT,
  WEBHOOK_TEST_EVENT,
]);

/** Returns events that rules of a project's limits send: all of the given names that they send, and some others. */
export type EventsOfRules = (owner: ProjectScope, names: readonly string[]) => Promise<readonly string[]>;

export interface EndpointsDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  /** Whether endpoints may be at internal addresses. */
  readonly allowPrivate: boolean;
  readonly eventsOfRules: EventsOfRules;
}

/** An endpoint with its secret, which only the response to its generation shows. */
export interface WithSecret {
  readonly endpoint: store.StoredEndpoint;
  readonly secret: string;
}

/** The endpoints of projects, with the events that each subscribes to. */
export class WebhookEndpoints {
  readonly #deps: EndpointsDeps;

  constructor(deps: EndpointsDeps) {
    this.#deps = deps;
  }

  /** @throws DomainError `invalid_request`, `webhook_endpoint_limit_reached` */
  async create(context: ChangeContext, input: WebhookEndpointInput): Promise<WithSecret> {
    const values = this.#checked(input);
    const { project } = context;
    const id = newId('whe', this.#deps.clock);
    const secret = newSecret();
    const createdAt = unixSeconds(this.#deps.clock);
    const endpoint = await transaction(this.#deps.postgres, async (tx) => {
      await lockProject(new TenantTx(tx, project.tenantId), project.projectId);
      const own = new ProjectTx(tx, project);
      if ((await store.countEndpoints(own)) >= WEBHOOK_ENDPOINTS_MAX) {
        const message = `The project has ${WEBHOOK_ENDPOINTS_MAX} webhook endpoints, which is the maximum.`;
        throw new DomainError('webhook_endpoint_limit_reached', { message });
      }
      await this.#audit(tx, context, 'create', id, input);
      return store.insertEndpoint(own, { ...values, id, secret, createdAt });
    });
    return { endpoint, secret };
  }

  /** @throws DomainError `not_found` */
  async read(owner: ProjectScope, id: string): Promise<store.StoredEndpoint> {
    return foundEndpoint(await store.readEndpoint(this.#db(owner), id));
  }

  async list(owner: ProjectScope, page: Page) {
    const db = this.#db(owner);
    return {
      items: await store.listEndpoints(db, page),
      totalCount: await store.countEndpoints(db),
    };
  }

  /**
   * Replaces all fields but the secret, and enables the endpoint again. Deliveries from before it was disabled that are
   * not cancelled yet are cancelled first, in parts.
   *
   * @throws DomainError `invalid_request`, `not_found`
   */
  async update(
    context: ChangeContext,
    id: string,
    input: WebhookEndpointInput,
  ): Promise<store.StoredEndpoint> {
    const values = this.#checked(input);
    const cancelSome = () =>
      transaction(this.#deps.postgres, (tx) =>
        cancelIfDisabled(new ProjectTx(tx, context.project), id, CHANGED_DELIVERIES_MAX),
      );
    while ((await cancelSome()) === CHANGED_DELIVERIES_MAX);
    return transaction(this.#deps.postgres, async (tx) => {
      const now = unixSeconds(this.#deps.clock);
      const endpoint = foundEndpoint(
        await store.updateEndpoint(new ProjectTx(tx, context.project), id, values, now),
      );
      await this.#audit(tx, context, 'update', id, input);
      return endpoint;
    });
  }

  /** Returns warnings for the events of an endpoint that nothing sends, including rules of limits. */
  async warningsAbout(
    owner: ProjectScope,
    { event_types: names }: Pick<WebhookEndpointInput, 'event_types'>,
  ): Promise<Warning[]> {
    const others = names.filter((name) => !NAMED_BY_SERVICE.has(name));
    if (others.length === 0) return [];
    const ofRules = await this.#deps.eventsOfRules(owner, others);
    return warningsOf(
      'unknown_event_type',
      others.filter((name) => !ofRules.includes(name)),
      [...WEBHOOK_OWN_EVENTS, ...ofRules],
    );
  }

  /**
   * Deletes an endpoint and its deliveries; a message that is being sent may still arrive. Most deliveries are deleted
   * before, in parts, so that the endpoint is locked for a short time. If that is interrupted, the endpoint is still
   * there without them, and can be deleted again.
   *
   * @throws DomainError `not_found`
   */
  async delete(context: ChangeContext, id: string): Promise<void> {
    const deleteAfter = (after: string): Promise<string | undefined> =>
      transaction(this.#deps.postgres, (tx) => {
        const own = new ProjectTx(tx, context.project);
        return deleteDeliveries(own, id, { after, deliveriesMax: CHANGED_DELIVERIES_MAX });
      });
    let last: string | undefined = '';
    while (last !== undefined) last = await deleteAfter(last);
    await transaction(this.#deps.postgres, async (tx) => {
      // First, because of a tenant that is moving nothing is deleted, and its audit log refuses the change.
      await this.#audit(tx, context, 'delete', id);
      if (!(await store.deleteEndpoint(new ProjectTx(tx, context.project), id)))
        throw new DomainError('not_found');
    });
  }

  /**
   * Creates a new secret, which signs from now on; for some hours the previous one signs, too.
   *
   * @throws DomainError `not_found`
   */
  async rotateSecret(context: ChangeContext, id: string): Promise<WithSecret> {
    const secret = newSecret();
    const now = unixSeconds(this.#deps.clock);
    const previousUntil = now + WEBHOOK_SECRET_OVERLAP_HOURS * SECONDS_PER_HOUR;
    const endpoint = await transaction(this.#deps.postgres, async (tx) => {
      const rotated = foundEndpoint(
        await store.rotateSecret(new ProjectTx(tx, context.project), id, secret, previousUntil, now),
      );
      await this.#audit(tx, context, 'rotate_secret', id);
      return rotated;
    });
    return { endpoint, secret };
  }

  #db(owner: ProjectScope): ProjectDb {
    return new ProjectDb(this.#deps.postgres.db, owner);
  }

  #checked({ url, event_types: eventTypes, description }: WebhookEndpointInput): store.EndpointValues {
    const problem = endpointUrlProblem(url, this.#deps);
    if (problem !== undefined) throw invalidRequest('url', `expected ${problem}`);
    if (eventTypes.length > 1 && eventTypes.includes(WEBHOOK_EVERY_EVENT)) {
      throw invalidRequest('event_types', `expected "${WEBHOOK_EVERY_EVENT}" alone, or names of events`);
    }
    return { url, eventTypes, description: description ?? null };
  }

  async #audit(tx: Tx, context: ChangeContext, verb: string, id: string, change?: object): Promise<void> {
    await audit(tx, {
      tenantId: context.project.tenantId,
      projectId: context.project.projectId,
      principal: context.principal,
      action: `webhook_endpoint.${verb}`,
      resourceType: 'webhook_endpoint',
      resourceId: id,
      change,
      requestId: context.requestId,
      atMs: this.#deps.clock.nowMs(),
    });
  }
}

export function foundEndpoint<T>(row: T | undefined): T {
  if (row === undefined) throw new DomainError('not_found');
  return row;
}
