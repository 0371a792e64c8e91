import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import { transaction } from '../../platform/postgres/index.js';
import { PostgresSegmentQueue, reprocessRecord } from '../../platform/queue/index.js';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { everyEventAdmitted } from '../../testing/ingest-api.js';
import { EventQuotas } from '../quotas/index.js';
import { GroupCommit } from './group-commit.js';
import { IngestService } from './index.js';

const NOW_S = 1_790_000_000;
const BACKLOG_EVENTS_MAX = 400;

let store: TestPostgres;
let queue: PostgresSegmentQueue;
let nodes: Node[];
beforeAll(async () => {
  store = await createTestPostgres();
  queue = new PostgresSegmentQueue(store.postgres);
});
beforeEach(() => {
  nodes = [startNode(), startNode()];
});
afterEach(async () => {
  for (const { service } of nodes) await service.close();
  await store.postgres.pool.query('truncate segments, event_quotas, event_quota_counters');
});
afterAll(() => store.drop());

interface Node {
  readonly service: IngestService;
  refresh(): Promise<unknown>;
}

/** The part of an API process that accepts events; the test decides when it measures the backlog. */
function startNode(): Node {
  let refresh: () => Promise<unknown> = async () => {};
  const service = new IngestService({
    queue,
    quotas: new EventQuotas(store.postgres, queue),
    publications: { isKnownPublished: () => true, read: async () => new Map() },
    clock: new ManualClock(NOW_S * 1_000),
    admission: everyEventAdmitted,
    scheduler: {
      every: (task) => {
        refresh = task;
        return () => {};
      },
    },
    backlogEventsMax: BACKLOG_EVENTS_MAX,
  });
  return { service, refresh: () => refresh() };
}

const projectOf = (tenantId: string) => ({
  tenantId,
  projectId: `prj_of_${tenantId}`,
  projectNo: 1,
  kind: 'release' as const,
  storage: 'shared' as const,
});

/**
 * Sends a batch, after every node has measured.
 *
 * @returns 202, or the status and code of the refusal
 */
async function send(tenantId: string, eventCount: number, node = nodes[0]): Promise<string> {
  for (const each of nodes) await each.refresh();
  const event = { extractor_rule_set_id: 'ers_1', source: 's', occurred_at: NOW_S, raw_json: {} };
  const batch = {
    events: Array.from({ length: eventCount }, (_, n) => ({ ...event, idempotency_key: `k-${n}` })),
  };
  return statusOf(async () => {
    await node?.service.acceptBatch(projectOf(tenantId), batch, Buffer.from(JSON.stringify(batch)));
  });
}

async function statusOf(work: () => Promise<void>): Promise<string> {
  try {
    await work();
    return '202';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const FULL = 'ingest_backlog_full';

describe("a tenant's share of the backlog", () => {
  it('refuses a loud tenant on every node while all others are accepted', async () => {
    const loud: string[] = [];
    for (let n = 0; n < 8; n += 1) loud.push(await send('ten_loud', 50, nodes[n % 2]));
    expect(loud).toEqual([...Array(6).fill('202'), FULL, FULL]);
    for (const tenantId of ['ten_a', 'ten_b', 'ten_c']) {
      expect([await send(tenantId, 5, nodes[0]), await send(tenantId, 5, nodes[1])]).toEqual(['202', '202']);
    }
    expect(await send('ten_loud', 1, nodes[1])).toBe(FULL);
  });

  it('leaves room for a quiet tenant under many loud ones', async () => {
    const tenantIds = Array.from({ length: 8 }, (_, n) => `ten_${n}`);
    for (let round = 0; round < 20; round += 1) {
      for (const tenantId of tenantIds) await send(tenantId, 5);
    }
    for (const tenantId of tenantIds) expect(await send(tenantId, 1)).toBe(FULL);
    expect(await send('ten_quiet', 1)).toBe('202');
  });

  it('accepts from the loud tenant again once the workers have caught up', async () => {
    for (let n = 0; n < 6; n += 1) await send('ten_loud', 50);
    expect(await send('ten_loud', 1)).toBe(FULL);
    await transaction(store.postgres, (tx) => queue.claim(tx, 50));
    expect(await send('ten_loud', 1)).toBe('202');
  });

  it('counts events that wait to be rated again', async () => {
    const ids = Array.from({ length: 310 }, (_, n) => n.toString(16).padStart(32, '0'));
    await queue.append([reprocessRecord(projectOf('ten_loud'), ids, NOW_S * 1_000)]);
    expect(await send('ten_loud', 1)).toBe(FULL);
    expect(await send('ten_quiet', 1)).toBe('202');
  });

  /** Queues stored events of a tenant, ten at a time, as long as there is room; returns how many. */
  async function reprocess(tenantId: string): Promise<number> {
    const project = projectOf(tenantId);
    let queued = 0;
    while (queued < BACKLOG_EVENTS_MAX && (await nodes[0]?.service.hasRoomToReprocess(project))) {
      const ids = Array.from({ length: 10 }, (_, n) => (queued + n).toString(16).padStart(32, '0'));
      await queue.append([reprocessRecord(project, ids, NOW_S * 1_000)]);
      queued += ids.length;
    }
    return queued;
  }

  it('has room for half of it to be rated again, and for new events beside', async () => {
    expect(await reprocess('ten_loud')).toBe(240);
    expect(await send('ten_loud', 1)).toBe('202');
    expect(await reprocess('ten_other')).toBeGreaterThan(0);
    expect(await reprocess('ten_loud')).toBe(0);
    expect(await send('ten_quiet', 1)).toBe('202');
  });

  it('has no room to rate again while the backlog is full', async () => {
    const ids = Array.from({ length: BACKLOG_EVENTS_MAX }, (_, n) => n.toString(16).padStart(32, '0'));
    await queue.append([reprocessRecord(projectOf('ten_loud'), ids, NOW_S * 1_000)]);
    expect(await reprocess('ten_quiet')).toBe(0);
  });
});

describe("a tenant's share of the memory for what is not yet written", () => {
  it('leaves room for other tenants, however much one sends', async () => {
    const commit = new GroupCommit({
      quotas: { appendWithinQuota: async () => [] },
      pendingBytesMax: 10_000,
    });
    const entitlement = await everyEventAdmitted.eventEntitlementOf('ten_loud');
    const accept = (tenantId: string) =>
      statusOf(async () => {
        const { projectId, projectNo, storage } = projectOf(tenantId);
        const scope = {
          kind: 'batch' as const,
          tenantId,
          projectId,
          projectNo,
          storage,
          extractorRuleSetId: null,
        };
        const [ids, body] = [Buffer.alloc(16), Buffer.alloc(900)];
        await commit.accept({ scope, receivedAtMs: NOW_S * 1_000, eventCount: 1, ids, body }, entitlement);
      });
    const sent = [...Array(10).fill('ten_loud'), 'ten_quiet'].map(accept);
    expect(await Promise.all(sent)).toEqual([...Array(9).fill('202'), FULL, '202']);
    // Requests that were written no longer count as memory in use.
    expect(await accept('ten_loud')).toBe('202');
  });
});

describe('tenantShare', () => {
  it('is three quarters for one tenant alone, and the same part for each of several', () => {
    expect(tenantShare(75, 100)).toBe(75);
    expect(tenantShare(60, 70)).toBe(30);
    expect(tenantShare(100, 100)).toBe(0);
  });
});
