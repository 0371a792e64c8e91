import { afterEach, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call } from './support/http.js';
import { createSampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

let service: RunningService;
afterEach(() => service?.stop());

/** Node prints its own warnings, such as about leaks and deprecated functions, as `(node:<process id>) <warning>`. */
const WARNING = /^.*\(node:\d+\).*$/gm;

it.each([
  ['in one process', ['serve']],
  ['with accepting processes', ['serve', '--workers', '2']],
])('a service that starts, rates an event and stops %s makes Node print no warning', async (_how, args) => {
  service = await startService({ args, env: { NODE_OPTIONS: '--trace-warnings' } });
  const { projectId, key, ruleSetId } = await createSampleProject(service);
  const project = `/v1/projects/${projectId}`;
  const sent = await call(service, 'POST', `${project}/extractor-rule-sets/${ruleSetId}/events/ingest`, {
    key,
    body: {
      source: 'test',
      occurred_at: Math.floor(Date.now() / 1_000),
      raw_json: { customer: 'c1', model: 'm', usage: { input_tokens: 1 } },
    },
  });
  expect(sent.status, sent.text).toBe(202);
  await waitFor(
    async () => {
      const { body } = await call(service, 'GET', `${project}/usage/events`, { key });
      return body.events.length === 1;
    },
    { timeoutMs: 120_000, what: 'the event' },
  );
  expect(await service.terminate()).toBe(0);
  expect(service.output.match(WARNING)).toBeNull();
});
