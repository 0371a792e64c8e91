// Clients that send usage events in turns to the projects of several tenants, one request after the other, until they
// are told to stop. A request without a response, or with a 5xx, is sent again until it gets its 202. The program is
// started by load-process.ts, and exchanges messages with it.
import { setTimeout as delay } from 'node:timers/promises';

const BATCH_EVENTS = 20;
/** One of so many requests is a batch. */
const BATCH_EVERY = 4;
/** After so many requests, a client repeats its last one, which must change nothing. */
const REPEAT_EVERY = 8;
const CUSTOMERS = 10;
const PROBLEMS_MAX = 20;
const RESPONSE_MS_MAX = 30_000;
const RETRY_MS = { min: 50, max: 1_000 };
const REPORT_MS = 50;

let isStopped = false;
let sequence = 0;
const counts = { requests: 0, events: 0, repeats: 0, failures: 0 };
/** How often requests were sent again, by the reason. */
const retries = {};
const problems = [];

process.once('message', (options) => {
  process.once('message', () => {
    isStopped = true;
  });
  void run(options);
});

/** Every event with a 202, for each project: its idempotency key, its id and its tokens. */
async function run({ url, projects, clients, pauseMs, occurredAt }) {
  const acknowledged = projects.map(() => []);
  const reporting = setInterval(() => process.send(counts), REPORT_MS);
  const send = async (client) => {
    for (let count = 1; !isStopped; count += 1) {
      const place = (client + count) % projects.length;
      const request = requestOf(projects[place], newEvents(occurredAt, count % BATCH_EVERY === 0));
      const ids = await sendUntilAccepted(url, request);
      if (ids === undefined) continue;
      counts.requests += 1;
      counts.events += ids.length;
      request.events.forEach(({ idempotency_key: key, raw_json: { usage } }, at) => {
        acknowledged[place].push([key, ids[at], usage.input_tokens]);
      });
      if (count % REPEAT_EVERY === 0) await repeat(url, request, ids);
      await delay(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => send(client)));
  clearInterval(reporting);
  process.send({ ...counts, retries, problems, acknowledged }, () => process.disconnect());
}

function newEvents(occurredAt, isBatch) {
  return Array.from({ length: isBatch ? BATCH_EVENTS : 1 }, () => {
    sequence += 1;
    const usage = { input_tokens: 1 + ((sequence * 7_919) % 5_000), output_tokens: 1 };
    return {
      idempotency_key: `event-${sequence}`,
      occurred_at: occurredAt,
      raw_json: { customer: `c${sequence % CUSTOMERS}`, model: 'm', prompt: 'p'.repeat(200), usage },
    };
  });
}

function requestOf({ projectId, ruleSetId, key }, events) {
  const isSingle = events.length === 1;
  const path = `/v1/projects/${projectId}`;
  const withRules = events.map((event) => ({ extractor_rule_set_id: ruleSetId, ...event }));
  return {
    path: isSingle ? `${path}/extractor-rule-sets/${ruleSetId}/events/ingest` : `${path}/events/batch-ingest`,
    body: JSON.stringify({ source: 'load', ...(isSingle ? events[0] : { events: withRules }) }),
    events,
    key,
  };
}

async function repeat(url, request, ids) {
  const again = await sendUntilAccepted(url, request);
  counts.repeats += 1;
  if (String(again) !== String(ids)) note(`repeated, ${request.path} returned other ids`);
}

/** Returns the ids of the events; undefined if the service refuses the request, which is a problem. */
async function sendUntilAccepted(url, request) {
  for (let pauseMs = RETRY_MS.min; ; pauseMs = Math.min(2 * pauseMs, RETRY_MS.max)) {
    const { ids, refusal, reason } = await sendOnce(url, request);
    if (ids !== undefined) return ids;
    if (refusal !== undefined) return note(refusal);
    counts.failures += 1;
    retries[reason] = (retries[reason] ?? 0) + 1;
    await delay(pauseMs);
  }
}

async function sendOnce(url, { path, body, key }) {
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(RESPONSE_MS_MAX),
    });
    const text = await response.text();
    if (response.status === 202) {
      const { raw_event_id: id, raw_event_ids: ids = [id] } = JSON.parse(text);
      return { ids };
    }
    if (response.status < 500) return { refusal: `${path} returned ${response.status} ${text}` };
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { reason: `${response.status} ${isJson ? JSON.parse(text).code : 'of the load balancer'}` };
  } catch (error) {
    return { reason: error.cause?.code ?? error.name };
  }
}

function note(problem) {
  if (problems.length < PROBLEMS_MAX) problems.push(problem);
}
