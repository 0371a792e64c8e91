// Looks at the service every so often while a phase runs.
import { setTimeout as delay } from 'node:timers/promises';
import { usageOf } from './processes.mjs';

/** A look takes about 10 ms of processor time, half of which is the service's, because it produces the figures. */
const INTERVAL_MS = 500;
/** Memory that PostgreSQL's processes share takes as long again to count: first when the warm-up is over. */
const MEMORY_EVERY_LOOKS = 10;
const MEMORY_AT_LOOK = 5;
/** Caches fill and code is compiled: left out of rates. */
const WARM_UP_MS = 2_000;

export class Sampler {
  samples = [];

  constructor(service, onSample = () => {}) {
    this.service = service;
    this.onSample = onSample;
    this.isRunning = true;
    this.done = this.run();
  }

  async run() {
    while (this.isRunning) {
      this.onSample(await this.look());
      await delay(INTERVAL_MS);
    }
  }

  async look(isMemoryCounted = this.samples.length % MEMORY_EVERY_LOOKS === MEMORY_AT_LOOK) {
    const usage = usageOf(this.service.pid, { isMemoryCounted });
    const sample = { ...(await this.service.counters()), usage };
    this.samples.push(sample);
    return sample;
  }

  /** @returns the measured rates per second after the warm-up */
  async stop() {
    this.isRunning = false;
    await this.done;
    await this.look(true);
    const startMs = this.samples[0].atMs;
    const afterWarmUp = this.samples.filter(({ atMs }) => atMs - startMs >= WARM_UP_MS);
    // A busy service may be looked at once or not at all in a short phase.
    const warm = afterWarmUp.length > 1 ? afterWarmUp : this.samples;
    const [first, last] = [warm[0], warm.at(-1)];
    const seconds = (last.atMs - first.atMs) / 1000;
    const rate = (pick) => (pick(last) - pick(first)) / seconds;
    return {
      seconds,
      ratedPerSecond: rate((sample) => sample.rated),
      queryablePerSecond: rate((sample) => sample.queryable),
      eventLoopLagP99MsMax: Math.max(...warm.map((sample) => sample.eventLoopLagP99Ms)),
      ...(first.usage && {
        serviceCpuShare: rate((sample) => sample.usage.service.cpuSeconds),
        postgresCpuShare: rate((sample) => sample.usage.postgres.cpuSeconds),
        serviceRss: memory(warm, (sample) => sample.usage.service.rssBytes),
        postgresPss: memory(
          warm.filter((sample) => sample.usage.postgres.pssBytes !== undefined),
          (sample) => sample.usage.postgres.pssBytes,
        ),
      }),
    };
  }
}

/** First, greatest and last value in bytes, and the growth per minute over the second half. */
function memory(samples, pick) {
  const half = samples.slice(samples.length >> 1);
  const minutes = (half.at(-1).atMs - half[0].atMs) / 60_000;
  return {
    firstBytes: pick(samples[0]),
    greatestBytes: Math.max(...samples.map(pick)),
    lastBytes: pick(samples.at(-1)),
    growthBytesPerMinute: minutes > 0 ? (pick(half.at(-1)) - pick(half[0])) / minutes : 0,
  };
}
