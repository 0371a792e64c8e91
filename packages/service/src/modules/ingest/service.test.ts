import type { BatchIngest, IngestEvent } from '@tollgate/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import type { ProjectRef } from '../../kernel/scope.js';
import type { SegmentRecord } from '../../platform/queue/index.js';
import { everyEventAdmitted } from '../../testing/ingest-api.js';
import { IngestService } from './service.js';

const NOW_S = 1_790_000_000;
const PROJECT: ProjectRef = {
  tenantId: 'ten_1',
  projectId: 'prj_1',
  projectNo: 1,
  kind: 'release',
  storage: 'shared',
};

function createIngest() {
  const records: SegmentRecord[] = [];
  const service = new IngestService({
    quotas: {
      appendWithinQuota: async (added) => {
        records.push(...added.map(({ record }) => record));
        return [];
      },
    },
    queue: {
      backlog: async () => ({
        segments: 0,
        events: 0,
        bytes: 0,
        deferredEvents: 0,
        oldestReceivedAtMs: undefined,
      }),
      tenantsHolding: async () => [],
    },
    publications: { isKnownPublished: () => true, read: async () => new Map() },
    clock: new ManualClock(NOW_S * 1000),
    admission: everyEventAdmitted,
    scheduler: { every: () => () => {} },
  });
  return { service, records };
}

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));

interface Identity {
  readonly tenantId: string;
  readonly projectId: string;
  readonly key: string;
  readonly occurredAt: number;
}

const identities: fc.Arbitrary<Identity> = fc.record({
  tenantId: fc.constantFrom('ten_1', 'ten_2'),
  projectId: fc.constantFrom('prj_1', 'prj_2'),
  key: fc.oneof(fc.constantFrom('a', 'b', 'a\n', '1', '11'), fc.string({ minLength: 1, maxLength: 20 })),
  occurredAt: fc.constantFrom(NOW_S, NOW_S + 1, NOW_S - 1_000_000),
});

async function idOf(identity: Identity, more: object): Promise<string> {
  const { service } = createIngest();
  const { tenantId, projectId, key, occurredAt } = identity;
  const event = { source: 's', idempotency_key: key, occurred_at: occurredAt, raw_json: {}, ...more };
  const project = { ...PROJECT, tenantId, projectId };
  return service.acceptSingle(project, 'ers_1', event as IngestEvent, bytesOf(event));
}

describe('raw_event_id', () => {
  it('is the same exactly for the same tenant, project, key and time, on every node', async () => {
    const pairs = fc.oneof(
      fc.tuple(identities, identities),
      identities.map((identity): [Identity, Identity] => [identity, { ...identity }]),
    );
    await fc.assert(
      fc.asyncProperty(pairs, async ([a, b]) => {
        const same =
          a.tenantId === b.tenantId &&
          a.projectId === b.projectId &&
          a.key === b.key &&
          a.occurredAt === b.occurredAt;
        const [idA, idB] = [await idOf(a, { source: 'x' }), await idOf(b, { raw_json: { n: 1 } })];
        expect(idA === idB).toBe(same);
      }),
    );
  });
});

describe('IngestService', () => {
  it('separates an inexact number from the exact one next to it', async () => {
    const { service } = createIngest();
    const send = (percent: string, metadata = '{}') => {
      const text = `{"source":"s","occurred_at":${NOW_S},"raw_json":{},"metadata":${metadata},
        "x-billing":{"discount_hints":{"m":{"percent":${percent}}}}}`;
      return service.acceptSingle(PROJECT, 'ers_1', JSON.parse(text), Buffer.from(text));
    };
    await send('100');
    await expect(send('100.00000000000000000001')).rejects.toMatchObject({ code: 'invalid_request' });
    // A double would print this number with a few digits.
    await expect(send('1', `{"n":0.${'1'.repeat(20_000)}}`)).rejects.toMatchObject({
      details: [{ path: 'metadata', message: expect.stringContaining('METADATA_BYTES_MAX') }],
    });
  });

  it('measures metadata without its white space', async () => {
    const { service } = createIngest();
    const send = (metadata: object) => {
      const text = JSON.stringify({ source: 's', occurred_at: NOW_S, raw_json: {}, metadata }, undefined, 8);
      return service.acceptSingle(PROJECT, 'ers_1', JSON.parse(text), Buffer.from(text));
    };
    await send({ text: 'x'.repeat(16_384 - '{"text":""}'.length) });
    await expect(send({ text: 'x'.repeat(16_385 - '{"text":""}'.length) })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it('asks for each unknown rule set of a batch once, all in one query', async () => {
    const asked: (readonly string[])[] = [];
    const service = new IngestService({
      quotas: { appendWithinQuota: async () => [] },
      queue: {
        backlog: async () => ({
          segments: 0,
          events: 0,
          bytes: 0,
          deferredEvents: 0,
          oldestReceivedAtMs: undefined,
        }),
        tenantsHolding: async () => [],
      },
      publications: {
        isKnownPublished: (_project, id) => id === 'ers_known',
        read: async (_project, ids) => {
          asked.push(ids);
          return new Map(ids.map((id) => [id, 'published' as const]));
        },
      },
      clock: new ManualClock(NOW_S * 1000),
      admission: everyEventAdmitted,
      scheduler: { every: () => () => {} },
    });
    const events = ['ers_a', 'ers_known', 'ers_b', 'ers_a'].map((id, index) => ({
      extractor_rule_set_id: id,
      source: 's',
      idempotency_key: String(index),
      occurred_at: NOW_S,
      raw_json: {},
    }));
    const batch: BatchIngest = { events };
    expect(await service.acceptBatch(PROJECT, batch, bytesOf(batch))).toHaveLength(4);
    expect(asked).toEqual([['ers_a', 'ers_b']]);
  });

  it('refuses while too much waits for the workers, and everything once it is closed', async () => {
    let events = 10;
    let refresh: () => Promise<unknown> = async () => {};
    const service = new IngestService({
      quotas: { appendWithinQuota: async () => [] },
      queue: {
        backlog: async () => ({ segments: 1, events, bytes: 1, deferredEvents: 0, oldestReceivedAtMs: 1 }),
        tenantsHolding: async () => [],
      },
      publications: { isKnownPublished: () => true, read: async () => new Map() },
      clock: new ManualClock(NOW_S * 1000),
      admission: everyEventAdmitted,
      scheduler: {
        every: (task) => {
          refresh = task;
          return () => {};
        },
      },
      backlogEventsMax: 10,
    });
    const event: IngestEvent = { source: 's', occurred_at: NOW_S, raw_json: {} };
    const send = () => service.acceptSingle(PROJECT, 'ers_1', event, bytesOf(event));
    await refresh();
    expect(service.backlog.events).toBe(10);
    await expect(send()).rejects.toMatchObject({ code: 'ingest_backlog_full' });
    events = 9;
    await refresh();
    await send();
    await service.close();
    await expect(send()).rejects.toMatchObject({ code: 'shutting_down' });
  });
});
