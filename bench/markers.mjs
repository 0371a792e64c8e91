// How long accepted events take until the event list shows them: markers, sent during a load to a project of their own.
import { setTimeout as delay } from 'node:timers/promises';
import { singleBody } from './events.mjs';

const SENT_EVERY_MS = 1_000;
/**
 * Greatest error of a marker's delay, always upwards, without the time of two list requests. A list takes some
 * 40 ms of processor time: asked for every 50 ms, it made all events a quarter to half of a second later.
 */
const LOOK_EVERY_MS = 250;
const WAIT_MAX_MS = 60_000;
/** All markers that wait must fit one page of the list, together with later ones that are there. */
const WAITING_MAX = 40;
const PAGE_SIZE = 100;

export class Markers {
  #delaysMs = [];
  /** By external id: when the event occurred, and when it was accepted. */
  #waiting = new Map();
  #sent = 0;
  #isOver = false;
  #isLastSent = false;
  #done;

  constructor(service, project, runId) {
    this.service = service;
    this.project = project;
    this.runId = runId;
    this.#done = Promise.all([this.#send(), this.#look()]);
    // Where the load fails, nobody asks for the markers any more.
    this.#done.catch(() => {});
  }

  /** How many were accepted. */
  get accepted() {
    return this.#delaysMs.length + this.#waiting.size;
  }

  /** Waits for all that were sent. @returns of each, the time from its 202 to a list with it, in milliseconds */
  async stop() {
    this.#isOver = true;
    await this.#done;
    return this.#delaysMs;
  }

  async #send() {
    const { id, ruleSetId, apiKey } = this.project;
    const path = `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}/events/ingest`;
    while (!this.#isOver) {
      if (this.#waiting.size < WAITING_MAX) {
        const externalId = `marker-${this.#sent}`;
        const occurredAt = Math.floor(Date.now() / 1000);
        const event = JSON.parse(singleBody(this.#sent, `${this.runId}-${externalId}`));
        this.#sent += 1;
        Object.assign(event, { occurred_at: occurredAt, external_event_id: externalId });
        await this.service.ask('POST', path, event, apiKey);
        this.#waiting.set(externalId, { occurredAt, acceptedMs: performance.now() });
      }
      await delay(SENT_EVERY_MS);
    }
    this.#isLastSent = true;
  }

  async #look() {
    const { id, apiKey } = this.project;
    while (!this.#isLastSent || this.#waiting.size > 0) {
      const [oldest] = this.#waiting.values();
      if (oldest !== undefined) {
        const path = `/v1/projects/${id}/usage/events?limit=${PAGE_SIZE}&from=${oldest.occurredAt}`;
        const { events } = await this.service.ask('GET', path, undefined, apiKey);
        const seenMs = performance.now();
        for (const { external_event_id: externalId } of events) {
          const marker = this.#waiting.get(externalId);
          if (marker === undefined) continue;
          this.#delaysMs.push(seenMs - marker.acceptedMs);
          this.#waiting.delete(externalId);
        }
        const waitedMs = seenMs - oldest.acceptedMs;
        if (waitedMs > WAIT_MAX_MS) throw new Error(`a marker was not queryable after ${waitedMs} ms`);
      }
      await delay(LOOK_EVERY_MS);
    }
  }
}
