// The phases of a run against the real service. Each leaves the service drained.
import { setTimeout as delay } from 'node:timers/promises';
import { CountedLag } from './counted-lag.mjs';
import { BATCH_CONNECTIONS, CONNECTIONS, WARM_UP_SECONDS } from './floors.mjs';
import { Markers } from './markers.mjs';
import { quantile } from './quantile.mjs';
import { Sampler } from './sampler.mjs';
import { ServiceLoad } from './service-load.mjs';

const DRAIN_POLL_MS = 20;
/** In the sustained phase the load pauses while more events than this are accepted and not yet queryable. */
const SUSTAINED_BACKLOG_EVENTS = 60_000;
const OVERLOAD_CONNECTIONS = 32;
/** So long may it take until the backlog is full. */
const FILL_SECONDS_MAX = 60;

export class Phases {
  #load;

  constructor(service, projects, markerProject, runId) {
    this.service = service;
    this.projects = projects;
    this.markerProject = markerProject;
    this.runId = runId;
    this.#load = new ServiceLoad(service, runId, DRAIN_POLL_MS);
  }

  /** Events accepted over all phases. */
  get accepted() {
    return this.#load.accepted;
  }

  async idle(seconds) {
    const sampler = new Sampler(this.service);
    await delay(seconds * 1000);
    return sampler.stop();
  }

  /** One event a request over 64 connections, as fast as the responses come. */
  single(seconds) {
    return this.unheld({ kind: 'single', connections: CONNECTIONS }, seconds);
  }

  /** Batches of 500 with nothing held back: how fast they become durable while the pipeline works. */
  burst(seconds) {
    return this.unheld({ kind: 'batch', connections: BATCH_CONNECTIONS }, seconds);
  }

  async unheld(plan, seconds) {
    await this.load({ ...plan, seconds: WARM_UP_SECONDS });
    await this.drain();
    const sampler = new Sampler(this.service);
    const load = await this.load({ ...plan, seconds });
    const seen = await sampler.stop();
    await this.drain();
    return { ...rates(load), ...seen };
  }

  /** Batches of 500, as fast as the whole pipeline keeps up with: from request to queryable row. */
  async sustained(seconds) {
    const startMs = performance.now();
    const before = this.accepted;
    let accepted = before;
    let generator;
    const backlogs = [];
    const sampler = new Sampler(this.service, (sample) => {
      const backlog = accepted - sample.queryable;
      backlogs.push({ atMs: sample.atMs, backlog });
      generator?.order({ pause: backlog > SUSTAINED_BACKLOG_EVENTS });
    });
    const load = await this.load(
      { kind: 'batch', connections: BATCH_CONNECTIONS, seconds },
      (progress, running) => {
        accepted = before + progress.accepted;
        generator = running;
      },
    );
    const seen = await sampler.stop();
    await this.drain();
    const endToEndPerSecond = (load.accepted * 1000) / (performance.now() - startMs);
    return { ...rates(load), ...seen, endToEndPerSecond, backlogGrowthPerSecond: slope(backlogs) };
  }

  /**
   * A steady load: how long until its events are queryable, counted, and how long until the event list shows
   * markers that are sent at the same time.
   */
  async acceptToQueryable(eventsPerSecond, seconds) {
    const before = this.accepted;
    const markers = new Markers(this.service, this.markerProject, this.runId);
    const lag = new CountedLag(this.service);
    const sampler = new Sampler(this.service);
    const load = await this.load(
      { kind: 'batch', connections: BATCH_CONNECTIONS, seconds, eventsPerSecond },
      (progress) => lag.accepted(before + progress.accepted + markers.accepted),
    );
    const listDelaysMs = await markers.stop();
    this.#load.accepted += listDelaysMs.length;
    const delaysMs = await lag.stop();
    const seen = await sampler.stop();
    await this.drain();
    return {
      ...rates(load),
      ...seen,
      delayMs: percentiles(delaysMs),
      markers: listDelaysMs.length,
      listDelayMs: percentiles(listDelaysMs),
    };
  }

  /**
   * Sends more than the pipeline can rate, and measures `seconds` from the first refusal on. Until then the backlog
   * fills, and accepting has priority over rating, as in a burst.
   */
  async overload(seconds) {
    const before = this.accepted;
    let accepted = before;
    let backlogMax = 0;
    let measuring;
    const measure = async (generator) => {
      const sampler = new Sampler(this.service, (sample) => {
        backlogMax = Math.max(backlogMax, accepted - sample.rated);
      });
      await delay(seconds * 1000);
      const seen = await sampler.stop();
      generator.order({ stop: true });
      return seen;
    };
    const load = await this.load(
      { kind: 'batch', connections: OVERLOAD_CONNECTIONS, seconds: seconds + FILL_SECONDS_MAX },
      (progress, generator) => {
        accepted = before + progress.accepted;
        if (progress.statuses[503] > 0) measuring ??= measure(generator);
      },
    );
    const seen = await measuring;
    if (seen === undefined) throw new Error(`nothing was refused within ${FILL_SECONDS_MAX} s`);
    const drainStartMs = performance.now();
    await this.drain();
    return {
      ...rates(load),
      ...seen,
      statuses: load.statuses,
      backlogMax,
      drainSeconds: (performance.now() - drainStartMs) / 1000,
    };
  }

  load(plan, onProgress) {
    return this.#load.send(this.projects, plan, { onProgress, mayBeRefused: true });
  }

  drain() {
    return this.#load.drain();
  }
}

function rates(load) {
  return {
    acceptedPerSecond: load.accepted / load.seconds,
    latencyMs: load.latencyMs,
    generatorCpuShare: load.cpuSeconds / load.seconds,
  };
}

function percentiles(delaysMs) {
  const sorted = [...delaysMs].sort((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: sorted.at(-1) };
}

/** Events per second by which a backlog grew, by least squares over the second half of the phase. */
function slope(points) {
  const half = points.slice(points.length >> 1);
  const mean = (pick) => half.reduce((sum, point) => sum + pick(point), 0) / half.length;
  const [timeMean, backlogMean] = [mean((point) => point.atMs), mean((point) => point.backlog)];
  const covariance = mean((point) => (point.atMs - timeMean) * (point.backlog - backlogMean));
  const variance = mean((point) => (point.atMs - timeMean) ** 2);
  return variance === 0 ? 0 : (covariance / variance) * 1000;
}
