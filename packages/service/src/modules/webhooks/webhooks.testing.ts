import { createHmac } from 'node:crypto';
import { pino } from 'pino';
import { createMetrics, type Metrics } from '../../platform/metrics/index.js';
import { transaction } from '../../platform/postgres/index.js';
import { type Answer, createTestApi, type TestApi } from '../../testing/api.js';
import type { Received } from '../../testing/receiver.js';
import {
  createSender,
  createWebhookDispatcher,
  createWebhooks,
  type DispatcherOptions,
  emit,
  registerWebhookRoutes,
  type Send,
  type WebhookDispatcher,
  type WebhookEvent,
} from './index.js';

type Json = ReturnType<typeof JSON.parse>;

/** An application with endpoints, and dispatchers. */
export interface TestWebhooks extends TestApi {
  readonly url: string;
  readonly metrics: Metrics;
  readonly dispatcher: WebhookDispatcher;
  /** Starts another dispatcher on the same database, as another process would. */
  startDispatcher(options?: DispatcherOptions & { send?: Send }, metrics?: Metrics): WebhookDispatcher;
  /** Records events of the project, in a transaction of their own. */
  emit(...events: readonly Partial<WebhookEvent>[]): Promise<void>;
  /** Creates an endpoint; returns it with its secret. */
  makeEndpoint(url: string, eventTypes?: readonly string[]): Promise<Json>;
  /** Sends a request about one endpoint. */
  at(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answer>;
  deliveries(endpointId: string, query?: string): Promise<Json[]>;
  /** Deletes every endpoint and message. */
  clear(): Promise<void>;
}

/** Long enough for a receiver on this machine under any load, and short enough for a test with a silent receiver. */
const TIMEOUT_MS = 2_000;

/** An event that counts as sent by a rule of a limit, in every project. */
export const EVENT_OF_RULE = 'budget.alarm';

export async function createTestWebhooks({ allowPrivate = true } = {}): Promise<TestWebhooks> {
  const eventsOfRules = async () => [EVENT_OF_RULE];
  const api = await createTestApi((app, { postgres, clock }) =>
    registerWebhookRoutes(app, createWebhooks({ postgres, clock, allowPrivate, eventsOfRules })),
  );
  const { postgres, clock, tenantId, projectId } = api;
  const url = `/v1/projects/${projectId}/webhook-endpoints`;
  const metrics = createMetrics();
  const startDispatcher: TestWebhooks['startDispatcher'] = (
    { send, ...options } = {},
    registry = createMetrics(),
  ) =>
    createWebhookDispatcher(
      {
        postgres,
        clock,
        log: pino({ level: 'silent' }),
        metrics: registry,
        send: send ?? createSender({ allowPrivate, timeoutMs: TIMEOUT_MS }),
        random: () => 0.5,
      },
      options,
    );
  const at: TestWebhooks['at'] = (method, path, body) => api.call(method, `${url}/${path}`, body);
  return {
    ...api,
    url,
    metrics,
    dispatcher: startDispatcher({}, metrics),
    startDispatcher,
    at,
    emit: (...events) =>
      transaction(postgres, (tx) =>
        emit(
          tx,
          events.map((event) => ({
            tenantId,
            projectId,
            type: 'usage_limit.exceeded',
            data: { n: 1 },
            atMs: clock.nowMs(),
            ...event,
          })),
        ),
      ),
    makeEndpoint: async (target, eventTypes = ['*']) => {
      const created = await api.call('POST', url, { url: target, event_types: eventTypes });
      if (created.status !== 201) throw new Error(created.text);
      return created.json();
    },
    deliveries: async (endpointId, query = '') =>
      (await at('GET', `${endpointId}/deliveries${query}`)).json().deliveries,
    clear: async () => {
      await postgres.pool.query('delete from webhook_endpoints; delete from webhook_messages');
    },
  };
}

/**
 * Whether a message is signed with this secret, as the public specification says: one of several signatures between
 * spaces is `v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`; the key is the base64 part after `whsec_`.
 */
export function isSignedBy(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.');
  const expected = `v1,${createHmac('sha256', key).update(signed, 'utf8').digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}
