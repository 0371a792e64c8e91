import { IngestService, registerIngestRoutes } from '../modules/ingest/index.js';
import { type EventAdmission, EventQuotas } from '../modules/quotas/index.js';
import { createRuleSets, registerRuleSetRoutes } from '../modules/rules/index.js';
import { transaction } from '../platform/postgres/index.js';
import { PostgresSegmentQueue, type SegmentRecord } from '../platform/queue/index.js';
import { type Answer, createTestApi, TEST_NOW_S, type TestApi, type TestStores } from './api.js';

/** An application that accepts events, with the project's rule sets in every state. */
export interface TestIngest extends TestApi {
  readonly ruleSetsUrl: string;
  readonly ruleSetId: string;
  /** A valid event, and the same as an item of a batch. */
  readonly event: Readonly<Record<string, unknown>>;
  item(more?: object): object;
  makeRuleSet(projectId: string, ...steps: ('publish' | 'archive')[]): Promise<string>;
  sendSingle(body: object | string, ruleSetId?: string, key?: string): Promise<Answer>;
  sendBatch(body: object | string, key?: string): Promise<Answer>;
  /** Measures the backlog, as an API process does a few times a second. */
  measureBacklog(): Promise<unknown>;
  /** Takes everything off the queue. */
  takeQueued(): Promise<SegmentRecord[]>;
}

export const TEST_WINDOW = { ageDaysMax: 3_650, aheadDaysMax: 30 };

/** Admits every event of every tenant. */
export const everyEventAdmitted: EventAdmission = {
  eventEntitlementOf: () => ({ isEntitled: true, window: TEST_WINDOW, monthlyEventLimit: -1, endsAt: null }),
};

type IngestQueue = Pick<PostgresSegmentQueue, 'backlog' | 'tenantsHolding'> &
  Pick<EventQuotas, 'appendWithinQuota'>;

function ingestQueue({ postgres }: TestStores): IngestQueue {
  const queue = new PostgresSegmentQueue(postgres);
  const quotas = new EventQuotas(postgres, queue);
  return {
    backlog: () => queue.backlog(),
    tenantsHolding: (size) => queue.tenantsHolding(size),
    appendWithinQuota: (records) => quotas.appendWithinQuota(records),
  };
}

/** @param decorate wraps the queue for ingest, e.g. to delay a write */
export async function createTestIngest(
  decorate: (queue: IngestQueue) => IngestQueue = (queue) => queue,
  admissionOver: (stores: TestStores) => EventAdmission = () => everyEventAdmitted,
): Promise<TestIngest> {
  let ingest: IngestService | undefined;
  let measureBacklog: () => Promise<unknown> = async () => {};
  const api = await createTestApi((app, stores) => {
    const ruleSets = createRuleSets(stores);
    const queue = decorate(ingestQueue(stores));
    ingest = new IngestService({
      queue,
      quotas: queue,
      publications: ruleSets.publications,
      clock: stores.clock,
      admission: admissionOver(stores),
      scheduler: {
        every: (task) => {
          measureBacklog = task;
          return () => {};
        },
      },
    });
    registerRuleSetRoutes(app, ruleSets);
    registerIngestRoutes(app, { service: ingest });
  });
  const makeRuleSet: TestIngest['makeRuleSet'] = async (projectId, ...steps) => {
    const url = `/v1/projects/${projectId}/extractor-rule-sets`;
    const { id } = (await api.call('POST', url, {})).json();
    for (const step of steps) {
      const { status, text } = await api.call('POST', `${url}/${id}/${step}`);
      if (status !== 200) throw new Error(text);
    }
    return id;
  };
  const ruleSetsUrl = `/v1/projects/${api.projectId}/extractor-rule-sets`;
  const ruleSetId = await makeRuleSet(api.projectId, 'publish');
  const queue = new PostgresSegmentQueue(api.postgres);
  const event = {
    source: 'gateway',
    idempotency_key: 'k-1',
    occurred_at: TEST_NOW_S,
    raw_json: { model: 'm', usage: { prompt_tokens: 12 } },
  };
  return {
    ...api,
    ruleSetsUrl,
    ruleSetId,
    event,
    item: (more = {}) => ({ ...event, extractor_rule_set_id: ruleSetId, ...more }),
    makeRuleSet,
    sendSingle: (body, id = ruleSetId, key?) =>
      api.call('POST', `${ruleSetsUrl}/${id}/events/ingest`, body, key),
    sendBatch: (body, key?) =>
      api.call('POST', `/v1/projects/${api.projectId}/events/batch-ingest`, body, key),
    measureBacklog: () => measureBacklog(),
    takeQueued: async () => {
      const segments = await transaction(api.postgres, (tx) => queue.claim(tx, Number.MAX_SAFE_INTEGER));
      return segments.flatMap((segment) => segment.records);
    },
    close: async () => {
      await ingest?.close();
      await api.close();
    },
  };
}
