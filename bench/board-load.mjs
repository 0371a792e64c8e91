// The queries that boards send: the charts of one board, and the usage that they show.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { generateLoad } from './processes.mjs';
import { ServiceLoad } from './service-load.mjs';

const BATCH_CONNECTIONS = 8;
const HISTORY_SECONDS_MAX = 300;
const POLL_MS = 200;
const METRICS = ['llm.input_tokens', 'llm.output_tokens'];
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const CHARTS = [
  { time_range: { last_seconds: 30 * DAY_S }, measures: ['amount'], bucket_size: '1d' },
  { time_range: { last_seconds: 30 * DAY_S }, measures: ['amount'], group_by: ['model'] },
  { time_range: { last_seconds: DAY_S }, measures: ['quantity'], bucket_size: '15m' },
  { time_range: { last_seconds: HOUR_S }, bucket_size: '1m' },
  { time_range: { last_seconds: 30 * DAY_S }, bucket_size: 'none', group_by: ['model', 'region'], limit: 5 },
  { time_range: { last_seconds: 7 * DAY_S }, subject_type: 'user', subject_id: 'user-7' },
];

/**
 * Sends at least this many events, and waits until charts show them.
 *
 * @returns the number of events
 */
export async function makeHistory(service, project, events) {
  const load = new ServiceLoad(service, 'history', POLL_MS);
  const plan = { kind: 'batch', connections: BATCH_CONNECTIONS, seconds: HISTORY_SECONDS_MAX };
  const onProgress = (progress, generator) => {
    if (progress.accepted >= events) generator.order({ stop: true });
  };
  await load.send([project], plan, { onProgress, mayBeRefused: true });
  await load.drain();
  return load.accepted;
}

/**
 * Sends single events at a fixed rate.
 *
 * @returns the result of the load generator
 */
export function ingestAtRate(service, { id, ruleSetId, apiKey }, plan) {
  const path = `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}/events/ingest`;
  return generateLoad({
    ...service.address,
    kind: 'single',
    targets: [{ path, ruleSetId, apiKey }],
    ...plan,
  });
}

/**
 * Requests all charts of all boards at once, every `everySeconds` until `signal` aborts. If a round takes longer, the
 * next one starts when it ends.
 *
 * @returns the milliseconds that each chart took
 */
export async function refreshBoards(service, project, { boards, everySeconds, signal }) {
  const timesMs = [];
  const ask = async (query) => {
    const startMs = performance.now();
    const body = { metrics: METRICS, ...query };
    await service.ask('POST', `/v1/projects/${project.id}/analysis/query`, body, project.apiKey);
    timesMs.push(performance.now() - startMs);
  };
  while (!signal.aborted) {
    const next = delay(everySeconds * 1_000, undefined, { signal }).catch(() => {});
    await Promise.all(Array.from({ length: boards }, () => CHARTS.map(ask)).flat());
    await next;
  }
  return timesMs;
}
