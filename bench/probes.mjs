// How long events take until they can be read: probes, sent during a load, each requested by itself until it is there.
import { setTimeout as delay } from 'node:timers/promises';
import { singleBody } from './events.mjs';

const SENT_EVERY_MS = 100;
/** Upper bound of the requests of one key that may wait for events. */
const WAITS_PER_KEY_MAX = 10;
/** Longest wait of one such request. The service checks every 100 ms, and a check takes a millisecond or two. */
const WAIT_SECONDS = 10;
const WAIT_MAX_MS = 300_000;

export class Probes {
  #delaysMs = [];
  #underWay = new Set();
  /** The projects in the order in which they send; a project occurs as often as its key may wait. */
  #free;
  #sent = 0;
  #isOver = false;
  #done;

  constructor(service, projects, runId) {
    this.service = service;
    this.runId = runId;
    this.#free = Array.from({ length: WAITS_PER_KEY_MAX }, () => projects).flat();
    this.#done = this.#send();
    // When the load fails, nobody reads the delays any more.
    this.#done.catch(() => {});
  }

  /**
   * Waits for all that were sent.
   *
   * @returns for each, the time from its 202 until it could be read, in milliseconds
   */
  async stop() {
    this.#isOver = true;
    await this.#done;
    return this.#delaysMs;
  }

  async #send() {
    while (!this.#isOver) {
      const project = this.#free.shift();
      if (project === undefined) await Promise.race(this.#underWay);
      else this.#begin(project);
      await delay(SENT_EVERY_MS);
    }
    await Promise.all(this.#underWay);
  }

  #begin(project) {
    const probe = this.#follow(project).finally(() => {
      this.#underWay.delete(probe);
      this.#free.push(project);
    });
    this.#underWay.add(probe);
  }

  async #follow({ id, ruleSetId, apiKey }) {
    const event = JSON.parse(singleBody(this.#sent, `${this.runId}-probe-${this.#sent}`));
    this.#sent += 1;
    event.occurred_at = Math.floor(Date.now() / 1000);
    const path = `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}/events/ingest`;
    const { raw_event_id: eventId } = await this.service.ask('POST', path, event, apiKey);
    const acceptedMs = performance.now();
    const eventPath = `/v1/projects/${id}/usage/events/${eventId}?wait_seconds=${WAIT_SECONDS}`;
    while (!(await this.#isThere(eventPath, apiKey))) {
      const waitedMs = performance.now() - acceptedMs;
      if (waitedMs > WAIT_MAX_MS) throw new Error(`a probe could not be read after ${waitedMs} ms`);
    }
    this.#delaysMs.push(performance.now() - acceptedMs);
  }

  async #isThere(path, apiKey) {
    try {
      await this.service.ask('GET', path, undefined, apiKey);
      return true;
    } catch (error) {
      if (error.message.includes(': 404 ')) return false;
      throw error;
    }
  }
}
