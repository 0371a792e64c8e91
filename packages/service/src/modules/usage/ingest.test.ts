import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DomainError } from '../../kernel/errors.js';
import { transaction } from '../../platform/postgres/index.js';
import { PostgresSegmentQueue } from '../../platform/queue/index.js';
import { createTestApi, TEST_NOW_S, type TestApi } from '../../testing/api.js';
import { everythingKept } from '../../testing/history.js';
import { registerUsageRoutes } from './index.js';

const FROM_S = 1_750_000_000;

/** A test can take the room away. */
const room = { checkRoom: () => {}, hasRoomToReprocess: async () => true };

let api: TestApi;
let queue: PostgresSegmentQueue;
let projectId: string;
let projectNo: number;
let url: string;

beforeAll(async () => {
  api = await createTestApi((app, { postgres, clock }) => {
    queue = new PostgresSegmentQueue(postgres);
    registerUsageRoutes(app, {
      answerRules: async () => [],
      correctionAuthors: async () => [],
      findUnpriced: async () => [],
      clickhouse: { query: async () => [], exportRowsUpTo: async () => Buffer.alloc(0) },
      history: everythingKept,
      postgres,
      queue,
      room,
      clock,
      extractorVersions: { read: async () => ({ name: null, config: {} }) },
      pricingVersions: { read: async () => ({ config: {} }) },
    });
  });
});

afterAll(() => api.close());

beforeEach(async () => {
  await api.postgres.pool.query(
    'truncate segments, failed_events, usage_event_ids, usage_event_id_blocks, usage_batches, ingest_totals, usage_event_totals',
  );
  projectId = await api.makeProject(api.tenantId);
  const { rows } = await api.postgres.pool.query('select no from projects where id = $1', [projectId]);
  projectNo = rows[0].no;
  url = `/v1/projects/${projectId}/usage`;
});

const idAt = (second: number, n = 0) =>
  (FROM_S + second).toString(16).padStart(8, '0') + n.toString(16).padStart(24, '0');

async function addFailed(
  second: number,
  { code = 'dimension_missing', n = 0, project = projectId } = {},
): Promise<string> {
  const id = idAt(second, n);
  await api.postgres.pool.query(
    `insert into failed_events (tenant_id, project_id, raw_event_id, occurred_at, received_at_ms, extractor_rule_set_id,
      failure_code, attempt, event) values ($1, $2, $3::uuid, $4, 0, 'ers_1', $5, 0, '{}')`,
    [api.tenantId, project, id, FROM_S + second, code],
  );
  return id;
}

/** The records that wait in the queue, as (kind, ids). */
async function queued(): Promise<{ kind: string; project: string; ids: string[] }[]> {
  const segments = await transaction(api.postgres, (tx) => queue.claim(tx, 1_000_000));
  return segments
    .flatMap(({ records }) => records)
    .map(({ scope, ids }) => ({
      kind: scope.kind,
      project: scope.projectId,
      ids: ids.toString('hex').match(/.{32}/g) ?? [],
    }));
}

describe('POST …/usage/events/:raw_event_id/reprocess', () => {
  it('queues a failed event', async () => {
    const id = await addFailed(1);
    const answer = await api.call('POST', `${url}/events/evt_${id}/reprocess`);
    expect(answer.status).toBe(202);
    expect(answer.json()).toEqual({ count: 1 });
    expect(await queued()).toEqual([{ kind: 'reprocess', project: projectId, ids: [id] }]);
  });

  it.each([
    ['', 'insert into usage_event_ids (project_no, raw_event_id) values ($1, $2::uuid)'],
    [
      ' whose id is in a block',
      'insert into usage_event_id_blocks (project_no, first_id, ids) values ($1, $2::uuid, array[$2::uuid])',
    ],
  ])('refuses an event that did not fail%s', async (_where, sql) => {
    await api.postgres.pool.query(sql, [projectNo, idAt(1)]);
    const answer = await api.call('POST', `${url}/events/evt_${idAt(1)}/reprocess`);
    expect(answer.status).toBe(409);
    expect(answer.json()).toMatchObject({
      code: 'event_not_failed',
      details: [{ path: 'raw_event_id', event_status: 'processed' }],
    });
    expect(await queued()).toEqual([]);
  });

  it('returns the same 404 for a malformed, absent or foreign id', async () => {
    const foreign = await addFailed(1, { project: await api.makeProject(api.tenantId) });
    const answers = await Promise.all(
      ['nonsense', `evt_${idAt(9)}`, `evt_${foreign}`].map((id) =>
        api.call('POST', `${url}/events/${id}/reprocess`),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('is refused while the queue has no room for the tenant', async () => {
    const id = await addFailed(1);
    const refuse = vi.spyOn(room, 'checkRoom').mockImplementation(() => {
      throw new DomainError('ingest_backlog_full');
    });
    const answer = await api.call('POST', `${url}/events/evt_${id}/reprocess`);
    refuse.mockRestore();
    expect(answer.status).toBe(503);
    expect(answer.json().code).toBe('ingest_backlog_full');
    expect(await queued()).toEqual([]);
  });

  it('needs usage:ingest', async () => {
    const key = await api.makeKey(api.tenantId, ['usage:read']);
    for (const path of [`events/evt_${idAt(1)}/reprocess`, 'events/reprocess']) {
      expect((await api.call('POST', `${url}/${path}`, undefined, key)).status).toBe(403);
    }
  });
});

describe('POST …/usage/events/reprocess', () => {
  it.each<[object, number[]]>([
    [{ from: FROM_S, to: FROM_S + 10 }, [0, 1, 2]],
    [{ from: FROM_S + 1, to: FROM_S + 2 }, [1]],
    [{ from: FROM_S, to: FROM_S + 10, code: 'pricing_failed' }, [2]],
    [{ from: FROM_S, to: FROM_S + 10, code: 'unknown' }, []],
  ])('queues the failed events of %j', async (body, seconds) => {
    await addFailed(0);
    await addFailed(1);
    await addFailed(2, { code: 'pricing_failed' });
    await addFailed(10);
    await addFailed(1, { project: await api.makeProject(api.tenantId) });
    const answer = await api.call('POST', `${url}/events/reprocess`, body);
    expect(answer.status).toBe(202);
    expect(answer.json()).toEqual({ count: seconds.length });
    expect((await queued()).flatMap(({ ids }) => ids)).toEqual(seconds.map((second) => idAt(second)));
  });

  it.each([
    ['to', { from: 5, to: 5 }],
    ['from', { to: 5 }],
    ['code', { from: 1, to: 5, code: '' }],
    ['unknown', { from: 1, to: 5, unknown: 1 }],
  ])('refuses a wrong %s', async (path, body) => {
    const answer = await api.call('POST', `${url}/events/reprocess`, body);
    expect(answer.status).toBe(400);
    expect(answer.json().details[0].path).toBe(path);
  });
});

describe('GET …/usage/ingest-status', () => {
  const record = (
    kind: 'batch' | 'reprocess',
    eventCount: number,
    receivedAtMs: number,
    project = projectId,
  ) => ({
    scope: {
      kind,
      tenantId: api.tenantId,
      projectId: project,
      projectNo,
      storage: 'shared' as const,
      extractorRuleSetId: null,
    },
    receivedAtMs,
    eventCount,
    ids: Buffer.alloc(eventCount * 16),
    body: Buffer.alloc(0),
  });
  const status = async () => (await api.call('GET', `${url}/ingest-status`)).json();

  it('is all zero for a new project', async () => {
    expect(await status()).toEqual({
      accepted: 0,
      processed: 0,
      failed: 0,
      voided: 0,
      duplicates: 0,
      pending: 0,
      deferred_count: 0,
      deferred_lag_seconds: 0,
      unpriced_count: 0,
      lag_seconds: 0,
      oldest_received_at: null,
    });
  });

  it('adds up what is done and what waits, of this project only, and events rated again once', async () => {
    const other = await api.makeProject(api.tenantId);
    await api.postgres.pool.query(
      `insert into ingest_totals (tenant_id, project_id, processed_count, failed_count, duplicate_count)
      values ($1, $2, 100, 20, 3), ($1, $3, 7, 7, 7)`,
      [api.tenantId, projectId, other],
    );
    await api.postgres.pool.query(
      `insert into usage_event_totals (tenant_id, project_id, day, processed_count, failed_count, unpriced_count)
      values ($1, $2, 1, 60, 20, 5), ($1, $2, 2, 40, 0, 3), ($1, $3, 1, 7, 7, 6)`,
      [api.tenantId, projectId, other],
    );
    const nowMs = TEST_NOW_S * 1000;
    await queue.append([record('batch', 4, nowMs - 5_000), record('batch', 9, nowMs - 90_000, other)]);
    await queue.append([record('batch', 2, nowMs - 1_500), record('reprocess', 8, nowMs - 1_500)]);
    await queue.append([record('reprocess', 8, nowMs - 700_000)]);
    expect(await status()).toMatchObject({
      accepted: 129,
      processed: 100,
      failed: 20,
      duplicates: 3,
      pending: 6,
      unpriced_count: 8,
    });
  });

  it('counts pending events that are deferred, of this project only, and none that is rated again', async () => {
    const other = await api.makeProject(api.tenantId);
    const nowMs = TEST_NOW_S * 1000;
    await queue.append([record('batch', 4, nowMs - 20_000)]);
    const deferred = [
      record('batch', 3, nowMs - 9_000),
      record('reprocess', 5, nowMs - 5_000),
      record('batch', 2, nowMs - 40_000, other),
    ];
    await transaction(api.postgres, (tx) => queue.defer(tx, deferred));
    expect(await status()).toMatchObject({
      ...{ accepted: 7, pending: 7, lag_seconds: 20 },
      ...{ deferred_count: 3, deferred_lag_seconds: 9 },
    });
  });

  it('returns the age of the oldest event that is not queryable, wherever it waits', async () => {
    const nowMs = TEST_NOW_S * 1000;
    await queue.append([record('batch', 1, nowMs - 1_500)]);
    expect(await status()).toMatchObject({ lag_seconds: 2, oldest_received_at: TEST_NOW_S - 2 });
    await api.postgres.pool.query(
      `insert into usage_batches
        (created_at_ms, oldest_received_at_ms, event_count, item_count, byte_count, project_ids, bytes)
      values ($1, $2, 1, 1, 0, array[$3], '')`,
      [nowMs, nowMs - 10_000, projectId],
    );
    expect(await status()).toMatchObject({ lag_seconds: 10, oldest_received_at: TEST_NOW_S - 10 });
  });
});
