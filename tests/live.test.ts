import { afterEach, describe, expect, it } from 'vitest';
import { call } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import { type RunningService, startService } from './support/service.js';

let service: RunningService;
afterEach(() => service?.stop());

const QUERY = {
  metrics: ['llm.input_tokens', 'llm.output_tokens'],
  time_range: { last_seconds: 3_600 },
  bucket_size: '1h',
  group_by: ['model'],
};

/** The events of a stream, as text; ends when the stream does. */
async function* follow({ projectId, key }: SampleProject): AsyncGenerator<string> {
  const search = new URLSearchParams({ query: JSON.stringify(QUERY) });
  const url = `${service.url}/v1/projects/${projectId}/analysis/stream?${search}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  let text = '';
  for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield text.slice(0, end);
      text = text.slice(end + 2);
    }
  }
}

describe('a stream of the running service', () => {
  it('sends changes by itself, and ends in order with the service', async () => {
    service = await startService();
    const project = await createSampleProject(service);
    const events = follow(project);
    expect((await events.next()).value).toBe('event: ready\nid: 0\ndata: {}');
    const ingest = `/v1/projects/${project.projectId}/extractor-rule-sets/${project.ruleSetId}/events/ingest`;
    const accepted = await call(service, 'POST', ingest, {
      key: project.key,
      body: {
        source: 'test',
        occurred_at: Math.floor(Date.now() / 1000),
        raw_json: { customer: 'c1', model: 'large', usage: { input_tokens: 3, output_tokens: 5 } },
      },
    });
    expect(accepted.status, accepted.text).toBe(202);
    const [name, id, data = ''] = String((await events.next()).value).split('\n');
    expect([name, id]).toEqual(['event: buckets', 'id: 1']);
    const told = JSON.parse(data.slice('data: '.length));
    const asked = await call(service, 'POST', `/v1/projects/${project.projectId}/analysis/query`, {
      key: project.key,
      body: QUERY,
    });
    expect(told.rows).toHaveLength(2);
    expect(told.rows).toEqual(asked.body.rows);
    const [rest, exitCode] = await Promise.all([events.next(), service.terminate()]);
    expect(rest.done).toBe(true);
    expect(exitCode).toBe(0);
  });
});
