import { BATCH_BODY_BYTES_MAX, BATCH_EVENTS_MAX } from '@tollgate/contract';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  BATCH_BYTES_DEFAULT,
  BATCH_EVENTS_DEFAULT,
  BatchingIngestClient,
  type BatchingOptions,
  type NewEvent,
} from './batching.js';
import { TollgateClient } from './client.js';
import { type Answer, type Received, startTestServer, type TestServer } from './testing/server.js';
import { HastyTiming, ManualTiming } from './testing/timing.js';

let server: TestServer | undefined;
afterEach(() => server?.close());

const event = (index: number): NewEvent => ({ extractor_rule_set_id: 'ers_1', raw_json: { index } });

interface SentEvent {
  readonly idempotency_key: string;
  readonly occurred_at: number;
  readonly raw_json: { readonly index: number };
}

const eventsOf = (request: Received) => (JSON.parse(request.body) as { events: SentEvent[] }).events;
const indexesOf = (request: Received) => eventsOf(request).map((sent) => sent.raw_json.index);

/** Accepts a batch; the ids in the response name the events. */
function accepted(request: Received): Answer {
  const raw_event_ids = indexesOf(request).map((index) => `evt_${index}`);
  return { status: 202, body: { status: 'received', count: raw_event_ids.length, raw_event_ids } };
}

const refusal = (status: number, code: string, details?: unknown): Answer => ({
  status,
  body: { error: code, code, ...(details !== undefined && { details }) },
});

type Decide = (request: Received, attempt: number) => Answer | 'destroy';

async function batching(decide: Decide, options: Partial<BatchingOptions> = {}) {
  let attempts = 0;
  server = await startTestServer((request) => decide(request, ++attempts));
  const project = new TollgateClient({ baseUrl: server.url, apiKey: 'tg_test_key' }).project('prj_1');
  const outcomes: string[] = [];
  const ingest = new BatchingIngestClient({
    project,
    source: 'test',
    onAccepted: (sent, id) => outcomes.push(`${(sent.raw_json as { index: number }).index} ${id}`),
    onRefused: (sent, error) => outcomes.push(`${(sent.raw_json as { index: number }).index} ${error.code}`),
    timing: new HastyTiming(),
    ...options,
  });
  return { ingest, outcomes, received: server.received };
}

describe('a batch is sent', () => {
  it('when it has enough events, without waiting', async () => {
    const timing = new ManualTiming();
    const { ingest, received, outcomes } = await batching(accepted, { batchEventsMax: 2, timing });
    for (const index of [0, 1, 2, 3]) await ingest.add(event(index));
    await vi.waitFor(() => expect(outcomes).toHaveLength(4));
    expect(received.map(indexesOf)).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(outcomes).toEqual(['0 evt_0', '1 evt_1', '2 evt_2', '3 evt_3']);
  });

  it('when its first event has waited long enough', async () => {
    const timing = new ManualTiming();
    const { ingest, received } = await batching(accepted, { lingerMs: 300, timing });
    await ingest.add(event(0));
    timing.advanceMs(200);
    await ingest.add(event(1));
    expect(received).toEqual([]);
    timing.advanceMs(100);
    await vi.waitFor(() => expect(received.map(indexesOf)).toEqual([[0, 1]]));
    await ingest.close();
  });

  it('when its first event has waited long enough, though the clock was set back', async () => {
    const timing = new ManualTiming();
    const { ingest, received } = await batching(
      (request, attempt) => {
        if (attempt === 1) {
          void ingest.add(event(2));
          timing.advanceMs(-3_600_000);
        }
        return accepted(request);
      },
      { batchEventsMax: 2, lingerMs: 300, timing },
    );
    for (const index of [0, 1]) await ingest.add(event(index));
    await vi.waitFor(() => expect(timing.slept).toEqual([300, 300]));
    timing.advanceMs(300);
    await vi.waitFor(() => expect(received.map(indexesOf)).toEqual([[0, 1], [2]]));
  });

  it('when its bytes fill a request, and a huge event goes alone', async () => {
    const { ingest, received } = await batching(accepted, { batchBytesMax: 400, timing: new ManualTiming() });
    const huge = { ...event(2), raw_json: { index: 2, text: 'é'.repeat(500) } };
    for (const added of [event(0), event(1), huge, event(3)]) await ingest.add(added);
    await ingest.close();
    expect(received.map(indexesOf)).toEqual([[0, 1], [2], [3]]);
  });

  it('with what was added, even if that object changes later', async () => {
    const { ingest, received } = await batching(accepted, { timing: new ManualTiming() });
    const added = { ...event(1), idempotency_key: 'k', occurred_at: 5 };
    await ingest.add(added);
    added.idempotency_key = 'changed';
    await ingest.close();
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      source: 'test',
      events: [
        { extractor_rule_set_id: 'ers_1', raw_json: { index: 1 }, idempotency_key: 'k', occurred_at: 5 },
      ],
    });
  });

  it('within the bounds of the service', () => {
    expect(BATCH_EVENTS_DEFAULT).toBeLessThanOrEqual(BATCH_EVENTS_MAX);
    expect(BATCH_BYTES_DEFAULT).toBeLessThan(BATCH_BODY_BYTES_MAX);
  });
});

describe('trouble', () => {
  it.each([
    ['429', refusal(429, 'event_quota_exceeded')],
    ['503', refusal(503, 'ingest_backlog_full')],
    ['a 502 of a proxy', { status: 502, body: 'Bad gateway' }],
    ['a cut connection', 'destroy'],
    ['an empty 200 of a proxy', { status: 200, body: '' }],
    ['a 200 of something else', { status: 200, body: { ok: true } }],
  ] as const)('%s is retried with the same keys and times', async (_name, answer) => {
    const { ingest, received, outcomes } = await batching((request, attempt) =>
      attempt < 3 ? answer : accepted(request),
    );
    await ingest.add(event(0));
    await ingest.add(event(1));
    expect(await ingest.close()).toEqual([]);
    expect(new Set(received.map((request) => request.body)).size).toBe(1);
    expect(received).toHaveLength(3);
    expect(outcomes).toEqual(['0 evt_0', '1 evt_1']);
  });

  it('is waited out for ten minutes and a little at most: a quota may be lifted', async () => {
    const timing = new HastyTiming();
    const quota = { ...refusal(429, 'event_quota_exceeded'), headers: { 'retry-after': '2600000' } };
    const { ingest } = await batching((request, attempt) => (attempt === 1 ? quota : accepted(request)), {
      timing,
      lingerMs: 0,
    });
    await ingest.add(event(0));
    await ingest.close();
    expect(timing.slept).toEqual([600_100]);
  });

  it('is waited out for at least as long as the service asks, and longer each time', async () => {
    const timing = new HastyTiming();
    const { ingest } = await batching(
      (request, attempt) =>
        attempt === 1
          ? { ...refusal(503, 'ingest_backlog_full'), headers: { 'retry-after': '9' } }
          : attempt < 12
            ? 'destroy'
            : accepted(request),
      { timing, lingerMs: 0 },
    );
    await ingest.add(event(0));
    await ingest.close();
    expect(timing.slept).toEqual([9_100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000, 15_000]);
  });

  it('with one event does not take the others with it', async () => {
    const details = [{ path: 'events[1].occurred_at', message: 'is too old' }];
    const isBad = (request: Received) => indexesOf(request).indexOf(1);
    const { ingest, received, outcomes } = await batching((request) =>
      isBad(request) >= 0 ? refusal(400, 'invalid_request', details) : accepted(request),
    );
    for (const index of [0, 1, 2]) await ingest.add(event(index));
    await ingest.close();
    expect(outcomes.sort()).toEqual(['0 evt_0', '1 invalid_request', '2 evt_2']);
    expect(received.map(indexesOf)).toEqual([
      [0, 1, 2],
      [0, 2],
    ]);
  });

  it('is found by halving when the answer does not name it', async () => {
    const { ingest, outcomes } = await batching((request) =>
      indexesOf(request).includes(5) ? refusal(400, 'invalid_request') : accepted(request),
    );
    for (let index = 0; index < 9; index += 1) await ingest.add(event(index));
    await ingest.close();
    expect(outcomes.filter((outcome) => outcome.endsWith('invalid_request'))).toEqual(['5 invalid_request']);
    expect(outcomes).toHaveLength(9);
  });

  it('with the key refuses the whole batch at once', async () => {
    const { ingest, received, outcomes } = await batching(() => refusal(403, 'permission_denied'));
    await ingest.add(event(0));
    await ingest.add(event(1));
    await ingest.close();
    expect(received).toHaveLength(1);
    expect(outcomes).toEqual(['0 permission_denied', '1 permission_denied']);
  });
});

describe('the buffer', () => {
  it('makes adders wait while it is full', async () => {
    const timing = new ManualTiming();
    const { ingest, outcomes } = await batching(accepted, { bufferEventsMax: 2, timing });
    await ingest.add(event(0));
    await ingest.add(event(1));
    let isAdded = false;
    const third = ingest.add(event(2)).then(() => {
      isAdded = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([isAdded, ingest.pending]).toEqual([false, 2]);
    timing.advanceMs(1_000);
    await third;
    expect(outcomes).toEqual(['0 evt_0', '1 evt_1']);
    await ingest.close();
    expect(outcomes).toHaveLength(3);
  });

  it('takes nothing after close', async () => {
    const { ingest } = await batching(accepted);
    await ingest.close();
    await expect(ingest.add(event(0))).rejects.toThrow('closed');
  });

  it('hands back what could not be delivered in time', async () => {
    const timing = new ManualTiming();
    const { ingest, received } = await batching(() => refusal(503, 'store_unavailable'), {
      batchEventsMax: 1,
      timing,
    });
    await ingest.add({ ...event(0), idempotency_key: 'a' });
    await ingest.add({ ...event(1), idempotency_key: 'b' });
    const closed = ingest.close({ timeoutMs: 50 });
    await vi.waitFor(() => expect(received).toHaveLength(1));
    timing.advanceMs(60);
    expect((await closed).map((left) => left.idempotency_key)).toEqual(['a', 'b']);
  });
});

describe('whatever happens on the way', () => {
  it.each([1, 2, 3, 4])('every event arrives exactly once (course %i)', async (course) => {
    let state = course * 2_654_435_761;
    const dice = (sides: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 16) % sides;
    };
    const stored = new Map<string, number>();
    const store = (request: Received) => {
      for (const sent of eventsOf(request)) {
        stored.set(`${sent.idempotency_key} ${sent.occurred_at}`, sent.raw_json.index);
      }
    };
    const { ingest, outcomes } = await batching(
      (request) => {
        const fate = dice(5);
        if (fate === 0) return refusal(503, 'ingest_backlog_full');
        if (fate === 1) return 'destroy';
        store(request);
        // Accepted, but the response is lost.
        return fate === 2 ? 'destroy' : accepted(request);
      },
      { batchEventsMax: 7, bufferEventsMax: 20 },
    );
    const count = 200;
    for (let index = 0; index < count; index += 1) await ingest.add(event(index));
    expect(await ingest.close()).toEqual([]);
    expect([...stored.values()].sort((a, b) => a - b)).toEqual(
      Array.from({ length: count }, (_, index) => index),
    );
    expect(outcomes).toHaveLength(count);
  });
});
