// How the on and the off of a machine are compared: alternating rounds of processor time, of which the median counts.
import { randomBytes } from 'node:crypto';
import { usageOf } from '../processes.mjs';
import { BenchService } from '../service.mjs';
import { ServiceLoad } from '../service-load.mjs';

const PROJECTS = 2;
/** Each look takes processor time of the service, which is what is measured. */
const DRAIN_POLL_MS = 250;

/**
 * Runs every way once in each round, in an order that changes from round to round; the first round is a warm-up.
 * @param ways functions by name, each of which returns a figure
 * @returns the median of the figures of each way
 */
export async function inTurns(ways, rounds) {
  const names = Object.keys(ways);
  const figures = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const figure = await ways[name]();
      if (round > 0) figures[name].push(figure);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(figures[name])]));
}

export function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

/** Microseconds of this process's processor time that `work` takes per event; it returns how many events it did. */
export async function ownCpuPerEvent(work) {
  const before = process.cpuUsage();
  const events = await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / events;
}

/** Processor time of a process and of all below it, in microseconds. */
export function cpuOf(pid) {
  const usage = usageOf(pid);
  if (usage === undefined)
    throw new Error('processor time of processes is read from /proc: this needs Linux');
  return (usage.service.cpuSeconds + usage.postgres.cpuSeconds) * 1e6;
}

/** Services with projects, one of them with limits, and the load that each of them gets. */
export class LoadedServices {
  #running = [];

  async start(settings = {}) {
    const service = await BenchService.start({ settings });
    this.#running.push(service);
    const projects = await service.createProjects(PROJECTS + 1);
    const limited = projects.pop();
    await service.limitSubjects(limited.id);
    return {
      service,
      projects,
      limited,
      load: new Load(service, randomBytes(4).toString('hex'), DRAIN_POLL_MS),
    };
  }

  async stop() {
    for (const service of this.#running) {
      await service.stop();
      service.removeData();
    }
  }
}

class Load extends ServiceLoad {
  /** Sends for some seconds, and waits until everything can be queried. */
  async run(projects, plan) {
    const before = cpuOf(this.service.pid);
    const result = await this.send(projects, plan);
    await this.drain();
    return { ...result, cpuPerEvent: (cpuOf(this.service.pid) - before) / result.accepted };
  }
}
