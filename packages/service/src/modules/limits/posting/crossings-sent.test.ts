import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../kernel/clock.js';
import { createMetrics } from '../../../platform/metrics/index.js';
import {
  batchRecord,
  PipelineFixture,
  TEST_DAY,
  type TestEvent,
  testEvent,
  waitFor,
} from '../../../testing/index.js';
import { type Receiver, startReceiver } from '../../../testing/receiver.js';
import {
  createSender,
  createWebhookDispatcher,
  createWebhooks,
  type Send,
  type WebhookDispatcher,
} from '../../webhooks/index.js';
import { PostingFixture } from './posting.testing.js';

const KILLS = 50;
const SUBJECTS = 8;
/** Stages after which the worker dies, one after the other. */
const STAGES = ['claim', 'deduplicate', 'spool', 'post', 'totals'] as const;
/** Every tenth of the limit sends an alert. An event costs 2 USD, so every fifth event of a subject sends one. */
const TENTHS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
const LIMIT_USD = 2 * KILLS;
const MS_PER_HOUR = 3_600_000;

/** Returns the events of a round: one of each subject. */
function eventsOf(round: number): TestEvent[] {
  return Array.from({ length: SUBJECTS }, (_, subject) =>
    testEvent(`r${round}-u${subject}`, { subject_type: 'user', subject_id: `u${subject}` }),
  );
}

describe('crossings, from the events to the endpoints that are notified', () => {
  let pipeline: PipelineFixture;
  let fixture: PostingFixture;
  let receiver: Receiver;
  let ruleNo: number | undefined;
  const clock = new ManualClock(PipelineFixture.nowMs);
  /** The messages that the receiver has accepted. */
  const taken: string[] = [];

  beforeEach(async () => {
    pipeline = await PipelineFixture.create();
    fixture = PostingFixture.of(pipeline.postgres, pipeline.project);
    [ruleNo] = await fixture.publish('ulp_1', [
      { key: 'daily', limit: String(LIMIT_USD), notifyAt: TENTHS.slice(0, -1) },
    ]);
    await fixture.route({ planId: 'ulp_1' });
    let attempts = 0;
    receiver = await startReceiver(({ headers }) => {
      if (attempts++ % 2 === 0) return 500;
      taken.push(String(headers['webhook-id']));
      return 204;
    });
    const eventsOfRules = async () => [];
    await createWebhooks({
      postgres: pipeline.postgres,
      clock,
      allowPrivate: true,
      eventsOfRules,
    }).endpoints.create(
      {
        project: { ...pipeline.project, kind: 'development' },
        principal: { kind: 'service' },
        requestId: 'r',
      },
      { url: receiver.url, event_types: ['*'] },
    );
  });

  afterEach(async () => {
    await receiver.close();
    await pipeline.drop();
  });

  function dispatcher(send: Send = createSender({ allowPrivate: true })): WebhookDispatcher {
    const log = pino({ level: 'silent' });
    return createWebhookDispatcher({
      postgres: pipeline.postgres,
      clock,
      log,
      metrics: createMetrics(),
      send,
    });
  }

  /** Delivers what is due, first in a process that dies while it waits for a response, then in one that does not. */
  async function dispatch(): Promise<void> {
    let begin = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const dying = dispatcher(() => {
      begin();
      return new Promise(() => {});
    });
    await Promise.race([hasBegun, dying.drain()]);
    clock.advanceMs(MS_PER_HOUR);
    await dispatcher().drain();
  }

  it(`are noted once and taken, over ${KILLS} kills of the worker and a receiver that fails half of the time`, async () => {
    for (let round = 0; round < KILLS; round++) {
      const resent = eventsOf(Math.floor(round / 2));
      await pipeline.accept(batchRecord(pipeline.project, [...eventsOf(round), ...resent]));
      pipeline.killAfter = STAGES[round % STAGES.length];
      await expect(pipeline.worker({ batchEventsMax: SUBJECTS }).drain()).rejects.toThrow('killed');
      pipeline.killAfter = undefined;
      if (round % 3 === 0) await pipeline.worker().drain();
      if (round % 5 === 0) await dispatch();
    }
    await pipeline.worker().drain();
    const expected = Array.from({ length: SUBJECTS }, (_, subject) =>
      TENTHS.map((percent) => `limit ${ruleNo} ${TEST_DAY * 86_400} ${percent} user u${subject}`),
    ).flat();
    expect(await fixture.crossings()).toEqual(expected.sort());
    const messages = new Set((await fixture.rows('select id from webhook_messages')).map(({ id }) => id));
    await waitFor(async () => {
      clock.advanceMs(MS_PER_HOUR);
      await dispatcher().drain();
      return new Set(taken).size === messages.size;
    });
    expect(new Set(taken)).toEqual(messages);
    expect(receiver.received.length).toBeGreaterThanOrEqual(2 * messages.size - 1);
  });
});
