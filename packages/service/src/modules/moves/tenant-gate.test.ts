import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { TenantDb } from '../../platform/postgres/index.js';
import { PostgresSegmentQueue } from '../../platform/queue/index.js';
import {
  createProject,
  createTestPostgres,
  type TestPostgres,
  type TestProject,
} from '../../testing/index.js';
import { everyEventAdmitted } from '../../testing/ingest-api.js';
import { IngestService } from '../ingest/index.js';
import { EventQuotas, usedEvents } from '../quotas/index.js';
import { TenantGate } from './tenant-gate.js';

const JUNE_S = Date.UTC(2026, 5, 1) / 1_000;

let store: TestPostgres;
let projects: TestProject[];
let gate: TenantGate;
/** The tenants of each append. */
let appended: string[][];
let ingest: IngestService;

beforeAll(async () => {
  store = await createTestPostgres();
  projects = [];
  for (const number of [1, 2, 3]) {
    projects.push(await createProject(store.postgres, `ten_${number}`, `prj_${number}`));
  }
});
beforeEach(async () => {
  await query('truncate segments, event_quotas, event_quota_counters, tenant_moves cascade');
  gate = new TenantGate(store.postgres);
  appended = [];
  ingest = ingestWith(gate);
});
afterAll(() => store.drop());

const query = (text: string) => store.postgres.pool.query(text);
const freeze = (tenantId: string) =>
  query(`insert into tenant_moves values ('${tenantId}', 'm1', 'frozen', 0)`);

function ingestWith(moving: Pick<TenantGate, 'refresh' | 'refusalOf'>): IngestService {
  const queue = new PostgresSegmentQueue(store.postgres);
  const quotas = new EventQuotas(store.postgres, queue);
  return new IngestService({
    queue,
    quotas: {
      appendWithinQuota: (records) => {
        appended.push(records.map(({ record }) => record.scope.tenantId));
        return quotas.appendWithinQuota(records);
      },
    },
    publications: { isKnownPublished: () => true, read: async () => new Map() },
    clock: new ManualClock(JUNE_S * 1_000),
    admission: everyEventAdmitted,
    moving,
    scheduler: { every: () => () => {} },
  });
}

/** Sends an event of each tenant in the same turn, so that they share an append; returns the codes of their errors. */
async function sendTogether(): Promise<(string | undefined)[]> {
  const event = { source: 's', occurred_at: JUNE_S, raw_json: {} };
  const sent = projects.map(async (project) => {
    const ref = { ...project, kind: 'development' as const };
    await ingest.acceptSingle(ref, 'ers_1', event, Buffer.from(JSON.stringify(event)));
  });
  const results = await Promise.allSettled(sent);
  return results.map((result) => (result.status === 'rejected' ? result.reason.code : undefined));
}

async function used(): Promise<number[]> {
  return Promise.all(
    projects.map(({ tenantId }) => usedEvents(new TenantDb(store.postgres.db, tenantId), JUNE_S)),
  );
}

const ALL = ['ten_1', 'ten_2', 'ten_3'];

describe('events of a tenant that was frozen a moment ago', () => {
  it.each([
    ['has prepaid events', true],
    ['has prepaid nothing', false],
  ])('are refused alone, and the others of their append accepted, if it %s', async (_name, isPrepaid) => {
    const before = isPrepaid ? 1 : 0;
    if (isPrepaid) expect(await sendTogether()).toEqual([undefined, undefined, undefined]);
    await freeze('ten_2');
    appended = [];
    expect(await sendTogether()).toEqual([undefined, 'tenant_moving', undefined]);
    expect(appended).toEqual([ALL, ['ten_1', 'ten_3']]);
    expect(await used()).toEqual([before + 1, before, before + 1]);
  });

  it('are refused by themselves, with nothing to append', async () => {
    for (const tenantId of ALL) await freeze(tenantId);
    expect(await sendTogether()).toEqual(['tenant_moving', 'tenant_moving', 'tenant_moving']);
    expect(appended).toEqual([ALL]);
  });

  it('are refused without a write from then on, until the move ends', async () => {
    await freeze('ten_2');
    await sendTogether();
    appended = [];
    expect(await sendTogether()).toEqual([undefined, 'tenant_moving', undefined]);
    expect(appended).toEqual([['ten_1', 'ten_3']]);
    expect(gate.refusalOf('ten_2')).toMatchObject({ code: 'tenant_moving', retryAfterS: 2 });
    await query('delete from tenant_moves');
    await gate.refresh();
    expect(await sendTogether()).toEqual([undefined, undefined, undefined]);
  });

  it('are refused another time, if a second tenant is frozen before the others are appended', async () => {
    await freeze('ten_2');
    ingest = ingestWith({
      refusalOf: (tenantId) => gate.refusalOf(tenantId),
      refresh: async () => {
        await gate.refresh();
        if (gate.refusalOf('ten_3') === undefined) await freeze('ten_3');
      },
    });
    expect(await sendTogether()).toEqual([undefined, 'tenant_moving', 'tenant_moving']);
    expect(appended).toEqual([ALL, ['ten_1', 'ten_3'], ['ten_1']]);
  });

  it.each([
    ['the move was cancelled meanwhile', async () => undefined],
    ['the moves cannot be read', () => Promise.reject(new Error('away'))],
  ])('fail with their append when %s', async (_name, refresh) => {
    await freeze('ten_2');
    ingest = ingestWith({ refusalOf: () => undefined, refresh });
    expect(await sendTogether()).toEqual(Array(3).fill('store_unavailable'));
    expect(await used()).toEqual([0, 0, 0]);
  });
});
