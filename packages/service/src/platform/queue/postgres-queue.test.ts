import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EventQuotas } from '../../modules/quotas/index.js';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { type Tx, transaction } from '../postgres/index.js';
import { PostgresSegmentQueue } from './postgres-queue.js';
import { encodeSegment, type SegmentRecord } from './segment.js';
import { SegmentFiles } from './segment-files.js';

let store: TestPostgres;
let folder: string | undefined;
let files: SegmentFiles | undefined;
let queue: PostgresSegmentQueue;
let quotas: EventQuotas;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterEach(() => store.postgres.pool.query('truncate segments, unreadable_segments'));
afterAll(() => store.drop());

const RECEIVED_AT_MS = 1_750_000_000_000;

function record(projectId: string, eventCount: number, receivedAtMs = RECEIVED_AT_MS): SegmentRecord {
  return {
    scope: {
      kind: 'batch',
      tenantId: 'ten_1',
      projectId,
      projectNo: 1,
      storage: 'shared',
      extractorRuleSetId: null,
    },
    receivedAtMs,
    eventCount,
    ids: Buffer.alloc(eventCount * 16, eventCount),
    body: Buffer.from([0, 255, 10, 92, eventCount]),
  };
}

function large(projectId: string, eventCount = 3): SegmentRecord {
  return { ...record(projectId, eventCount), body: Buffer.alloc(70_000, 'large') };
}

/** Appends records as a client does. */
async function accept(...records: SegmentRecord[]): Promise<void> {
  const asked = records.map((each) => ({ record: each, monthlyEventLimit: -1 }));
  expect(await quotas.appendWithinQuota(asked)).toEqual([]);
}

const claim = (eventsMax: number) => transaction(store.postgres, (tx) => queue.claim(tx, eventsMax));

describe.each(['its row', 'files'])('PostgresSegmentQueue with large segments in %s', (kept) => {
  beforeAll(async () => {
    folder = kept === 'files' ? await mkdtemp(join(tmpdir(), 'tollgate-segments-')) : undefined;
    files = folder === undefined ? undefined : await SegmentFiles.open(folder);
    queue = new PostgresSegmentQueue(store.postgres, files);
    quotas = new EventQuotas(store.postgres, queue);
  });
  afterAll(async () => {
    await files?.close();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  it('gives back, byte for byte, what was appended, oldest first, once', async () => {
    const first = [record('prj_a', 2, RECEIVED_AT_MS + 5), record('prj_b', 3), record('prj_a', 1)];
    await queue.append(first);
    await queue.append([record('prj_c', 4)]);
    const segments = await claim(100);
    expect(segments.map((segment) => segment.records)).toEqual([first, [record('prj_c', 4)]]);
    expect(segments[0]).toMatchObject({ eventCount: 6, receivedAtMs: RECEIVED_AT_MS });
    expect(await claim(100)).toEqual([]);
  });

  it('keeps large bodies among small ones as they are', async () => {
    const records = [record('prj_a', 2), large('prj_b'), record('prj_a', 1), large('prj_b')];
    await queue.append(records);
    await quotas.appendWithinQuota(records.map((each) => ({ record: each, monthlyEventLimit: 1_000 })));
    const segments = await claim(100);
    expect(segments.map((segment) => segment.records)).toEqual([records, records]);
  });

  it('has each segment in one place, and says how large it is', async () => {
    await accept(record('prj_a', 2));
    await accept(large('prj_a'));
    await queue.append([large('prj_a')]);
    const { rows } = await store.postgres.pool.query(
      'select bytes is null as "isInFile", file_name is null as "isInRow", byte_count from segments order by id',
    );
    const isInFile = kept === 'files';
    const small = encodeSegment([record('prj_a', 2)]).length;
    const byte_count = encodeSegment([large('prj_a')]).length;
    expect(rows).toEqual([
      { isInFile: false, isInRow: true, byte_count: small },
      { isInFile, isInRow: !isInFile, byte_count },
      { isInFile: false, isInRow: true, byte_count },
    ]);
  });

  it('puts back and refuses, whatever the size, in the given transaction', async () => {
    const limited = { record: large('prj_a'), monthlyEventLimit: 1_000 };
    const tooMany = {
      record: { ...large('prj_a', 400), receivedAtMs: RECEIVED_AT_MS + 1 },
      monthlyEventLimit: 1_000,
    };
    await store.postgres.pool.query('truncate event_quotas, event_quota_counters');
    expect(await quotas.appendWithinQuota([limited])).toEqual([]);
    expect(await quotas.appendWithinQuota([tooMany, { ...tooMany }, { ...tooMany }, limited])).toEqual([
      { index: 2, used: 803 },
    ]);
    const records = (await claim(2_000)).flatMap((segment) => segment.records);
    expect(records).toEqual([limited.record, tooMany.record, tooMany.record, limited.record]);
    await transaction(store.postgres, (tx) => queue.putBack(tx, records));
    expect((await claim(2_000)).flatMap((segment) => segment.records)).toEqual(records);
  });

  it('returns how many events of which project a segment holds', async () => {
    await queue.append([record('prj_a', 2), record('prj_b', 3), record('prj_a', 1)]);
    const { rows } = await store.postgres.pool.query(
      'select event_count, received_at_ms, project_ids, project_event_counts from segments',
    );
    expect(rows).toEqual([
      {
        event_count: 6,
        received_at_ms: RECEIVED_AT_MS,
        project_ids: ['prj_a', 'prj_b'],
        project_event_counts: [3, 3],
      },
    ]);
  });

  it('refuses an empty append', async () => {
    await expect(queue.append([])).rejects.toThrow(RangeError);
  });

  it('claims up to the bound, and at least one segment', async () => {
    for (let n = 1; n <= 40; n += 1) await queue.append([record('prj_a', 3)]);
    expect(await claim(2)).toHaveLength(1);
    expect(await claim(10)).toHaveLength(3);
    expect(await claim(100)).toHaveLength(33);
    expect(await claim(100)).toHaveLength(3);
  });

  it('puts a segment back when the claiming transaction fails', async () => {
    await accept(large('prj_a', 1));
    const failed = transaction(store.postgres, async (tx) => {
      expect(await queue.claim(tx, 10)).toHaveLength(1);
      throw new Error('crash');
    });
    await expect(failed).rejects.toThrow('crash');
    await queue.sweepStore();
    expect((await claim(10)).map((segment) => segment.records)).toEqual([[large('prj_a', 1)]]);
  });

  it('sets a segment aside that cannot be read, and goes on behind it', async () => {
    await queue.append([record('prj_a', 1)]);
    await queue.append([record('prj_b', 2)]);
    await store.postgres.pool.query(
      `update segments set bytes = '\\x02000000ff00' where id = (select min(id) from segments)`,
    );
    const segments = await claim(100);
    expect(segments.map(({ records }) => records)).toEqual([[], [record('prj_b', 2)]]);
    expect(segments[0]?.problem?.message).toContain('preamble');
    const { rows } = await store.postgres.pool.query(
      'select event_count, received_at_ms, project_ids, project_event_counts, bytes from unreadable_segments',
    );
    expect(rows).toEqual([
      {
        event_count: 1,
        received_at_ms: RECEIVED_AT_MS,
        project_ids: ['prj_a'],
        project_event_counts: [1],
        bytes: Buffer.from('02000000ff00', 'hex'),
      },
    ]);
    expect(await claim(100)).toEqual([]);
  });

  it('shares the queue among workers without waiting and without overlap', async () => {
    for (let n = 1; n <= 200; n += 1) await queue.append([record('prj_a', 1)]);
    const seen: number[] = [];
    const holdTogether = async (tx: Tx, workers: number): Promise<void> => {
      const segments = await queue.claim(tx, 50);
      seen.push(...segments.map((segment) => segment.id));
      if (workers > 1) await transaction(store.postgres, (next) => holdTogether(next, workers - 1));
    };
    await transaction(store.postgres, (tx) => holdTogether(tx, 4));
    expect(seen).toHaveLength(200);
    expect(new Set(seen).size).toBe(200);
  });

  it('measures its backlog', async () => {
    expect(await queue.backlog()).toEqual({
      segments: 0,
      events: 0,
      bytes: 0,
      deferredEvents: 0,
      oldestReceivedAtMs: undefined,
    });
    await queue.append([record('prj_a', 2, RECEIVED_AT_MS + 5)]);
    await queue.append([record('prj_a', 3)]);
    const { rows } = await store.postgres.pool.query('select sum(byte_count)::bigint as bytes from segments');
    expect(await queue.backlog()).toEqual({
      segments: 2,
      events: 5,
      bytes: rows[0].bytes,
      deferredEvents: 0,
      oldestReceivedAtMs: RECEIVED_AT_MS,
    });
  });

  it('finds the tenants that hold much of it, by events, bytes or segments', async () => {
    const of = (tenantId: string, each: SegmentRecord) => ({ ...each, scope: { ...each.scope, tenantId } });
    await accept(of('ten_events', record('prj_a', 90)), of('ten_bytes', large('prj_b', 1)));
    await accept(of('ten_bytes', record('prj_b', 1)), of('ten_events', record('prj_a', 10)));
    for (let n = 0; n < 3; n += 1) await queue.append([of('ten_segments', record('prj_c', 1))]);
    const none = { events: 1_000, bytes: 1_000_000, segments: 1_000 };
    expect(await queue.tenantsHolding(none)).toEqual([]);
    expect(await queue.tenantsHolding({ ...none, events: 100 })).toEqual(['ten_events']);
    expect(await queue.tenantsHolding({ ...none, events: 101 })).toEqual([]);
    expect(await queue.tenantsHolding({ ...none, bytes: 70_000 })).toEqual(['ten_bytes']);
    expect(await queue.tenantsHolding({ ...none, segments: 3 })).toEqual(['ten_segments']);
    await transaction(store.postgres, async (tx) => {
      const claimed = await queue.claim(tx, 1_000);
      await queue.putBack(
        tx,
        claimed.flatMap(({ records }) => records),
      );
    });
    expect(await queue.tenantsHolding({ ...none, events: 100 })).toEqual(['ten_events']);
  });
});

describe('a large segment in a file', () => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-segments-'));
    // Each large segment has a file of its own.
    files = await SegmentFiles.open(folder, { fileBytesMax: 1 });
    queue = new PostgresSegmentQueue(store.postgres, files);
    quotas = new EventQuotas(store.postgres, queue);
  });
  afterEach(async () => {
    await files?.close();
    await rm(folder as string, { recursive: true });
  });

  it('leaves the disk after it has left the queue', async () => {
    await accept(large('prj_a'));
    await accept(large('prj_b'));
    await accept(large('prj_c'));
    await claim(1);
    await queue.sweepStore();
    // The first sweep kept a spare file.
    await queue.sweepStore();
    expect(await readdir(folder as string)).toHaveLength(2);
    expect((await claim(100)).map((segment) => segment.records)).toEqual([
      [large('prj_b')],
      [large('prj_c')],
    ]);
  });

  it('is set aside, with what is there of it, when it is damaged or gone', async () => {
    await accept(large('prj_a'));
    const [cutOff] = await readdir(folder as string);
    await truncate(join(folder as string, cutOff as string), 1_000);
    await accept(large('prj_b'));
    const gone = (await readdir(folder as string)).find((name) => name !== cutOff);
    await rm(join(folder as string, gone as string));
    await accept(large('prj_c'));
    const segments = await claim(100);
    expect(segments.map(({ records }) => records)).toEqual([[], [], [large('prj_c')]]);
    const { rows } = await store.postgres.pool.query(
      'select problem, octet_length(bytes) as size from unreadable_segments where problem like $1 order by id',
      ['%bytes are there%'],
    );
    expect(rows.map(({ size }) => size)).toEqual([1_000, 0]);
    expect(rows.map(({ problem }) => problem)).toEqual([
      expect.stringContaining(cutOff as string),
      expect.stringContaining(gone as string),
    ]);
  });

  it('stays in the queue where its file is out of reach', async () => {
    await accept(large('prj_a'));
    const elsewhere = new PostgresSegmentQueue(store.postgres);
    await expect(transaction(store.postgres, (tx) => elsewhere.claim(tx, 10))).rejects.toThrow(
      'data directory',
    );
    expect(await claim(10)).toHaveLength(1);
  });
});
