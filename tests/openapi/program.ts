import createClient from 'openapi-fetch';
import type { components, paths } from './dist/api.js';

/** The output of the program. */
export interface Outcome {
  readonly received: components['schemas']['BatchIngestAccepted'];
  readonly event: components['schemas']['UsageEventDetail'];
  readonly listed: components['schemas']['UsageEventList'];
  readonly refused: components['schemas']['ErrorBody'];
}

const [baseUrl = '', apiKey = '', projectId = '', ruleSetId = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } });
const path = { project_id: projectId };

const sent: components['schemas']['BatchIngestItem'] = {
  extractor_rule_set_id: ruleSetId,
  idempotency_key: 'generated-1',
  occurred_at: Math.floor(Date.now() / 1_000),
  raw_json: { customer: 'c-42', model: 'large', usage: { input_tokens: 1_200, output_tokens: 340 } },
};
const batch = await client.POST('/v1/projects/{project_id}/events/batch-ingest', {
  params: { path },
  body: { source: 'generated', events: [sent] },
});
const received = needed(batch.data, batch.error);

const rawEventId = needed(received.raw_event_ids[0], received);
const detail = await client.GET('/v1/projects/{project_id}/usage/events/{raw_event_id}', {
  params: { path: { ...path, raw_event_id: rawEventId }, query: { wait_seconds: 10 } },
});
const event = needed(detail.data, detail.error);

const list = await client.GET('/v1/projects/{project_id}/usage/events', {
  params: { path, query: { status: 'processed', metric: ['llm.output_tokens'], limit: 5 } },
});
const listed = needed(list.data, list.error);

const missing = await client.GET('/v1/projects/{project_id}/usage/events/{raw_event_id}', {
  params: { path: { ...path, raw_event_id: 'evt_none' } },
});
const refused = needed(missing.error, missing.data);

// Optional fields are optional, whatever their default.
({ name: 'model', path: '$.model', type: 'string' }) satisfies components['schemas']['DimensionConfig'];

/** None of this compiles; without types all of it would. It is never called. */
export function misuses(): void {
  // @ts-expect-error: a field that no event has.
  event.no_such_field;
  // @ts-expect-error: an amount is exact text, not a number.
  event.charge_items[0]?.amount.toFixed(2);
  // @ts-expect-error: a unit can be absent.
  event.charge_items[0]?.unit.length;
  // @ts-expect-error: no event has this status.
  if (event.status === 'done') throw new Error(event.status);
  // @ts-expect-error: no error has this code.
  if (refused.code === 'no_such_code') throw new Error(refused.error);
  // @ts-expect-error: an event of a batch needs an idempotency key.
  ({ extractor_rule_set_id: ruleSetId, occurred_at: 0, raw_json: {} }) satisfies typeof sent;
  // @ts-expect-error: nothing is at this path.
  client.GET('/v1/no-such-path');
}

console.log(JSON.stringify({ received, event, listed, refused } satisfies Outcome));

/** Returns the value, which the type says can be absent. */
function needed<T>(value: T | undefined, instead: unknown): T {
  if (value === undefined) throw new Error(`Not what was asked for: ${JSON.stringify(instead)}`);
  return value;
}
