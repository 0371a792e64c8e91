import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

const PROJECTS = 4;
const BATCH_EVENTS = 20;
/** More than all waits of the test under load together, so that a wait that fails says what it waited for. */
const LOAD_TEST_MS_MAX = 360_000;
const OCCURRED_AT = Math.floor(Date.now() / 1000) - 3_600;

describe('the number of shards', () => {
  let service: RunningService;
  const projects: SampleProject[] = [];

  beforeAll(async () => {
    service = await startService({ env: { TOLLGATE_LOG_LEVEL: 'info' } });
    while (projects.length < PROJECTS) projects.push(await createSampleProject(service));
  });
  afterAll(() => service?.stop());

  async function shards(...args: string[]): Promise<string> {
    const result = await service.runCommand(['shards', ...args]);
    expect(result.exitCode, result.output).toBe(0);
    return result.stdout.trim();
  }

  const changes = () => service.output.split('the number of shards has changed').length - 1;

  it('is shown and changed while the service runs, and every event is rated once', {
    timeout: LOAD_TEST_MS_MAX,
  }, async () => {
    await shards('1');
    let isDone = false;
    const sent = projects.map(() => 0);
    const senders = projects.map(async ({ projectId, key, ruleSetId }, place) => {
      for (let batch = 0; !isDone; batch += 1) {
        const events = Array.from({ length: BATCH_EVENTS }, (_, index) => ({
          extractor_rule_set_id: ruleSetId,
          idempotency_key: `${batch}-${index}`,
          occurred_at: OCCURRED_AT,
          raw_json: { customer: 'c', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
        }));
        const path = `/v1/projects/${projectId}/events/batch-ingest`;
        const answer = await call(service, 'POST', path, { key, body: { source: 'test', events } });
        expect(answer.status, answer.text).toBe(202);
        sent[place] = (batch + 1) * BATCH_EVENTS;
      }
    });
    for (const [before, count] of [
      ['1', '8'],
      ['8', '64'],
      ['64', '3'],
    ] as const) {
      const known = changes();
      expect(await shards(count)).toContain(`The number of shards is ${count}; it was ${before}.`);
      expect(await shards()).toBe(count);
      const sentBefore = [...sent];
      await waitFor(
        () => changes() > known && sent.every((events, place) => events > (sentBefore[place] ?? 0)),
        { timeoutMs: 120_000, what: `events in ${count} shards` },
      );
    }
    isDone = true;
    await Promise.all(senders);
    for (const [place, { projectId, key }] of projects.entries()) {
      const status = async () =>
        (await call(service, 'GET', `/v1/projects/${projectId}/usage/ingest-status`, { key })).body;
      await waitFor(async () => (await status()).pending === 0, { timeoutMs: 180_000, what: 'rated events' });
      expect(await status()).toMatchObject({ processed: sent[place], failed: 0 });
    }
    const verified = await service.runCommand(['verify']);
    expect(verified.exitCode, verified.output).toBe(0);
  });

  it.each(['0', '65', 'many'])('is never %s', async (text) => {
    const result = await service.runCommand(['shards', text]);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toBe(
      `tollgate: tollgate shards needs a whole number from 1 to 64, not "${text}".\n`,
    );
  });

  it('stays as it was while no service runs, and changes to the setting when one starts', async () => {
    await service.terminate();
    expect(await shards()).toBe('3');
    await service.start({ TOLLGATE_SHARDS: '8' });
    expect(await shards()).toBe('8');
  });
});
