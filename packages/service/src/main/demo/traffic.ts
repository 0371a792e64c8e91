import { setTimeout as delay } from 'node:timers/promises';
import type { BatchIngestItem } from '@tollgate/contract';
import { TollgateClient } from '@tollgate/sdk';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { callsInSecond, sampleCall, seededRandom } from './sample-traffic.js';
import type { DemoTenant } from './tenant.js';

const HISTORY_SECONDS = 86_400;
const HISTORY_BATCH_EVENTS = 2_000;
/** Upper bound of the batches that are sent at once: while one is made durable, the next is read. */
const HISTORY_BATCHES_AT_ONCE = 3;
const RETRY_MS = 1_000;

const SOURCE = 'demo-gateway';
const HISTORY_WAIT_MS_MAX = 30_000;
const HISTORY_POLL_MS = 50;

/** A day of calls before now, busier by day than by night. */
export async function sendHistory(url: string, tenant: DemoTenant, clock: Clock): Promise<number> {
  const project = new TollgateClient({ baseUrl: url, apiKey: tenant.key }).project(tenant.projectId);
  const random = seededRandom(1);
  const now = unixSeconds(clock);
  const events: BatchIngestItem[] = [];
  for (let second = now - HISTORY_SECONDS; second < now; second += 1) {
    for (let calls = callsInSecond(second, random); calls > 0; calls -= 1) {
      events.push(toItem(tenant, second, `h${events.length}`, random));
    }
  }
  let next = 0;
  const sendInTurn = async () => {
    while (next < events.length) {
      const from = next;
      next += HISTORY_BATCH_EVENTS;
      await project.batchIngest({ source: SOURCE, events: events.slice(from, next) });
    }
  };
  await Promise.all(Array.from({ length: HISTORY_BATCHES_AT_ONCE }, sendInTurn));
  return events.length;
}

/** Returns when all events are queryable, or after half a minute, so that the first page shows complete data. */
export async function historyQueryable(url: string, tenant: DemoTenant): Promise<void> {
  const { usage } = new TollgateClient({ baseUrl: url, apiKey: tenant.key }).project(tenant.projectId);
  const deadlineMs = performance.now() + HISTORY_WAIT_MS_MAX;
  while ((await usage.ingestStatus()).oldest_received_at !== null && performance.now() < deadlineMs)
    await delay(HISTORY_POLL_MS);
}

/** Sends the calls of each second until the signal aborts. Retries under the same keys, so nothing counts twice. */
export async function sendLiveTraffic(
  url: string,
  tenant: DemoTenant,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const project = new TollgateClient({ baseUrl: url, apiKey: tenant.key }).project(tenant.projectId);
  const startedAt = unixSeconds(clock);
  const random = seededRandom(startedAt);
  let sequence = 0;
  let second = startedAt;
  while (!signal.aborted) {
    const now = unixSeconds(clock);
    const events: BatchIngestItem[] = [];
    // A second that took too long is made up for: live traffic keeps the level of the history.
    for (; second <= now; second += 1) {
      for (let calls = callsInSecond(second, random); calls > 0; calls -= 1) {
        sequence += 1;
        events.push(toItem(tenant, second, `l${startedAt}-${sequence}`, random));
      }
    }
    if (events.length > 0) {
      await sendUntilAccepted(() => project.batchIngest({ source: SOURCE, events }), signal);
    }
    await pause(1_000, signal);
  }
}

function toItem(tenant: DemoTenant, occurredAt: number, key: string, random: () => number): BatchIngestItem {
  return {
    extractor_rule_set_id: tenant.ruleSetId,
    idempotency_key: key,
    occurred_at: occurredAt,
    raw_json: sampleCall(Number(key.replace(/^.*\D/, '')), random),
  };
}

async function sendUntilAccepted(send: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await send();
      return;
    } catch {
      await pause(RETRY_MS, signal);
    }
  }
}

async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  await delay(durationMs, undefined, { signal }).catch(() => {});
}
