// The load that one service gets, and how many of its events were accepted.
import { setTimeout as delay } from 'node:timers/promises';
import { generateLoad } from './processes.mjs';

const DRAIN_TIMEOUT_MS = 300_000;

export class ServiceLoad {
  #sequence = 0;

  /** @param drainPollMs from one look at the service's counters to the next */
  constructor(service, runId, drainPollMs) {
    this.service = service;
    this.runId = runId;
    this.drainPollMs = drainPollMs;
    /** Events accepted by now; add those that are sent in another way. */
    this.accepted = 0;
  }

  /** Sends by the plan; with `mayBeRefused` a 503 is as good as a 202, and any other status is an error. */
  async send(projects, plan, { onProgress, mayBeRefused = false } = {}) {
    const targets = projects.map(({ id, ruleSetId, apiKey }) => ({
      path:
        plan.kind === 'batch'
          ? `/v1/projects/${id}/events/batch-ingest`
          : `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}/events/ingest`,
      ruleSetId,
      apiKey,
    }));
    const whole = {
      ...this.service.address,
      ...plan,
      targets,
      runId: this.runId,
      firstSequence: this.#sequence,
    };
    const result = await generateLoad(whole, onProgress);
    this.#sequence = result.nextSequence;
    this.accepted += result.accepted;
    const expected = mayBeRefused ? ['202', '503'] : ['202'];
    const unexpected = Object.keys(result.statuses).filter((status) => !expected.includes(status));
    if (unexpected.length > 0 || result.failures > 0) {
      throw new Error(
        `unexpected responses: ${JSON.stringify(result.statuses)}, lost connections: ${result.failures}`,
      );
    }
    return result;
  }

  /** Waits until all that was accepted can be queried. */
  async drain() {
    const deadlineMs = performance.now() + DRAIN_TIMEOUT_MS;
    for (;;) {
      const { queryable, failed } = await this.service.counters();
      if (failed > 0) throw new Error(`${failed} events failed to be rated`);
      if (queryable >= this.accepted) return;
      if (performance.now() > deadlineMs)
        throw new Error(`${this.accepted - queryable} events cannot be queried`);
      await delay(this.drainPollMs);
    }
  }
}
