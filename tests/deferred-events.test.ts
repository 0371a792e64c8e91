import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishSlowRules, slowBatch } from '../packages/service/src/testing/slow-rules.js';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

/** Every other of them fails: its steps run out. */
const SLOW_EVENTS = 160;
/** The service is killed when so many of them are rated or have failed. */
const KILLED_AT = [20, 60, 110];
const QUICK_EVENTS = 100;
const SETTLE_TIMEOUT_MS = 120_000;

describe("kill -9 while a tenant's slow events wait for their turns", () => {
  const occurredAt = Math.floor(Date.now() / 1000) - 3_600;
  let service: RunningService;
  let slow: SampleProject;
  let quick: SampleProject;
  let slowRuleSetId: string;

  beforeAll(async () => {
    service = await startService();
    slow = await createSampleProject(service);
    quick = await createSampleProject(service);
    slowRuleSetId = await publishSlowRules((path, body) => ask(slow, 'POST', path, body));
  });
  afterAll(() => service?.stop());

  async function ask(
    { projectId, key }: SampleProject,
    method: string,
    path: string,
    body?: object | string,
  ) {
    const answer = await call(service, method, `/v1/projects/${projectId}${path}`, { key, body });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  }

  const statusOf = (project: SampleProject) => ask(project, 'GET', '/usage/ingest-status');

  /** Always the same events: from the second time on they are duplicates. */
  async function sendSlow(): Promise<void> {
    const batch = slowBatch(slowRuleSetId, { name: 'slow', count: SLOW_EVENTS, occurredAt });
    await ask(slow, 'POST', '/events/batch-ingest', batch);
  }

  async function sendQuick(round: number): Promise<void> {
    const events = Array.from({ length: QUICK_EVENTS }, (_, index) => ({
      extractor_rule_set_id: quick.ruleSetId,
      idempotency_key: `quick-${round}-${index}`,
      occurred_at: occurredAt,
      raw_json: { customer: 'c', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
    }));
    await ask(quick, 'POST', '/events/batch-ingest', { source: 'quick', events });
  }

  it('rates each of them once, or fails it with its reason, and those of others', async () => {
    await sendSlow();
    for (const [round, killedAt] of KILLED_AT.entries()) {
      await sendQuick(round);
      await waitFor(
        async () => {
          const { processed, failed } = await statusOf(slow);
          return processed + failed >= killedAt;
        },
        { timeoutMs: SETTLE_TIMEOUT_MS, what: `${killedAt} slow events` },
      );
      expect((await statusOf(slow)).deferred_count).toBeGreaterThan(0);
      // Every other time PostgreSQL is left behind as an orphan.
      await service.crash(round % 2 === 0 ? 'service and stores' : 'service');
      await service.start();
      await sendSlow();
    }
    for (const project of [slow, quick]) {
      await waitFor(
        async () => {
          const { pending, lag_seconds } = await statusOf(project);
          return pending === 0 && lag_seconds === 0;
        },
        { timeoutMs: SETTLE_TIMEOUT_MS, what: 'an empty queue' },
      );
    }

    expect(await statusOf(quick)).toMatchObject({ processed: KILLED_AT.length * QUICK_EVENTS, failed: 0 });
    expect(await statusOf(slow)).toMatchObject({
      accepted: (1 + KILLED_AT.length) * SLOW_EVENTS,
      processed: SLOW_EVENTS / 2,
      failed: SLOW_EVENTS / 2,
      duplicates: KILLED_AT.length * SLOW_EVENTS,
      deferred_count: 0,
    });
    const { rows } = await ask(slow, 'POST', '/analysis/query', {
      metrics: ['slow.items'],
      time_range: { from: occurredAt - 60, to: occurredAt + 60 },
      bucket_size: 'none',
    });
    expect(rows).toMatchObject([{ item_count: SLOW_EVENTS / 2, quantity: String(SLOW_EVENTS / 2) }]);
    const failed = await ask(slow, 'GET', '/usage/events?failure_code=pricing_failed&limit=100');
    expect(failed.events).toHaveLength(SLOW_EVENTS / 2);
    for (const { failure } of failed.events) expect(failure.message).toContain('EVENT_STEPS_MAX');
    const verified = await service.runCommand(['verify']);
    expect(verified.exitCode, verified.output).toBe(0);
  }, 600_000);
});
