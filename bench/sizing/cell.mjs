// A model of one cell: its API processes, workers and projectors around one PostgreSQL.
import { Cores, Lock, Simulation } from './simulation.mjs';

/** Number of the slots of projects, which posting locks; see decision 0043. */
const SLOTS = 64;
const FLUSH_EVENTS = 500;
const BATCH_EVENTS_MAX = 20_000;
const GROUP_EVENTS_MAX = 50_000;
/** Accepting pauses above this number of events that wait for a worker. */
const BACKLOG_EVENTS_MAX_OF_WORKER = 60_000;
/** Batches that one worker processes at once: the second is rated while the first waits for PostgreSQL. */
const BATCHES_OF_WORKER = 2;
const POLL_US = 5_000;
/** Returns the load of a project by its rank: with skew 0 all are equal, with 1 the n-th has 1/n of the first. */
const weightOf = (rank, skew) => 1 / (rank + 1) ** skew;

/**
 * Simulates a cell that gets as many events as it can take.
 *
 * @param costs of one event, in µs and bytes; see costs.json
 * @param size processes, cores, shards, projects
 * @returns events per second, shares of time, and the bottleneck
 */
export function simulateCell(costs, size, { warmupSeconds, seconds }) {
  const cell = new Cell(costs, size);
  cell.start();
  cell.simulation.runUntil(warmupSeconds * 1e6);
  const before = cell.counters();
  cell.simulation.runUntil((warmupSeconds + seconds) * 1e6);
  return summary(cell.counters(), before, size, seconds * 1e6);
}

class Cell {
  simulation = new Simulation();
  #costs;
  #size;
  #postgres;
  #wal;
  #locks;
  #weightOfShard;
  #waiting;
  #rated;
  #slotsOfShard;
  #threads = { api: [], worker: [], projector: [] };
  #projectedEvents = 0;

  constructor(costs, size) {
    const { simulation } = this;
    this.#costs = costs;
    this.#size = size;
    this.#postgres = new Cores(simulation, size.postgresCores);
    this.#wal = new Cores(simulation, 1);
    this.#locks = Array.from({ length: SLOTS }, () => new Lock(simulation));
    const { weights, slots } = sharesOf(size);
    this.#weightOfShard = weights;
    this.#slotsOfShard = slots;
    this.#waiting = new Array(size.shards).fill(0);
    this.#rated = new Array(size.shards).fill(0);
  }

  start() {
    const { apis, workers, projectors, shards } = this.#size;
    const owned = (count, index) =>
      Array.from({ length: shards }, (_, shard) => shard).filter((shard) => shard % count === index);
    for (let index = 0; index < apis; index += 1) this.simulation.start(this.#accept(this.#thread('api')));
    for (let index = 0; index < workers; index += 1) {
      const thread = this.#thread('worker');
      for (let batch = 0; batch < BATCHES_OF_WORKER; batch += 1) {
        this.simulation.start(this.#rate(thread, owned(workers, index)));
      }
    }
    for (let index = 0; index < projectors; index += 1) {
      this.simulation.start(this.#project(this.#thread('projector'), owned(projectors, index)));
    }
  }

  counters() {
    const busy = (threads) => threads.reduce((sum, { busyUs }) => sum + busyUs, 0);
    return {
      events: this.#projectedEvents,
      postgres: this.#postgres.busyUs,
      wal: this.#wal.busyUs,
      api: busy(this.#threads.api),
      worker: busy(this.#threads.worker),
      projector: busy(this.#threads.projector),
      lockWait: this.#locks.reduce((sum, { waitedUs }) => sum + waitedUs, 0),
    };
  }

  #thread(kind) {
    const thread = new Cores(this.simulation, 1);
    this.#threads[kind].push(thread);
    return thread;
  }

  *#accept(thread) {
    const { accept } = this.#costs;
    const rows = this.#weightOfShard.filter((weight) => weight > 0).length;
    const bound = BACKLOG_EVENTS_MAX_OF_WORKER * this.#size.workers;
    for (;;) {
      if (sum(this.#waiting) > bound) {
        yield this.simulation.delay(POLL_US);
        continue;
      }
      yield thread.use(FLUSH_EVENTS * accept.ownUs);
      yield this.#postgres.use(FLUSH_EVENTS * accept.postgresUs + (rows - 1) * this.#costs.segmentRowUs);
      yield this.#commit(FLUSH_EVENTS * accept.walBytes);
      this.#weightOfShard.forEach((weight, shard) => {
        this.#waiting[shard] += weight * FLUSH_EVENTS;
      });
    }
  }

  *#rate(thread, shards) {
    const { rate } = this.#costs;
    for (;;) {
      const shard = longest(shards, this.#waiting);
      if (shard === undefined || this.#waiting[shard] < 1) {
        yield this.simulation.delay(POLL_US);
        continue;
      }
      const events = Math.min(BATCH_EVENTS_MAX, this.#waiting[shard]);
      this.#waiting[shard] -= events;
      yield thread.use(events * rate.ownUs * (1 - rate.lockedShareOfOwn));
      yield this.#postgres.use(events * (rate.postgresUs - rate.lockedPostgresUs));
      const locks = this.#slotsOfShard[shard].map((slot) => this.#locks[slot]);
      if (rate.lockedPostgresUs > 0) for (const lock of locks) yield lock.take();
      yield thread.use(events * rate.ownUs * rate.lockedShareOfOwn);
      yield this.#postgres.use(events * rate.lockedPostgresUs);
      yield this.#commit(events * rate.walBytes);
      if (rate.lockedPostgresUs > 0) for (const lock of locks) lock.release();
      this.#rated[shard] += events;
    }
  }

  *#project(thread, shards) {
    const { project } = this.#costs;
    for (;;) {
      const shard = longest(shards, this.#rated);
      if (shard === undefined || this.#rated[shard] < 1) {
        yield this.simulation.delay(POLL_US);
        continue;
      }
      const events = Math.min(GROUP_EVENTS_MAX, this.#rated[shard]);
      this.#rated[shard] -= events;
      yield thread.use(events * project.ownUs);
      yield this.#postgres.use(events * project.postgresUs);
      yield this.#commit(events * project.walBytes);
      this.#projectedEvents += events;
    }
  }

  /** The disk writes one commit after the other; several commits can wait for its confirmation at the same time. */
  #commit(bytes) {
    const written = this.#wal.use(bytes / this.#size.walBytesPerUs);
    return (resume) => written(() => this.simulation.callIn(this.#size.syncUs, resume));
  }
}

/** Returns each shard's share of the events, and its slots that have projects. */
function sharesOf({ shards, projects, skew }) {
  const weights = new Array(shards).fill(0);
  const slots = Array.from({ length: shards }, () => new Set());
  for (let number = 0; number < projects; number += 1) {
    const slot = number % SLOTS;
    weights[slot % shards] += weightOf(number, skew);
    slots[slot % shards].add(slot);
  }
  const total = sum(weights);
  return {
    weights: weights.map((weight) => weight / total),
    slots: slots.map((found) => [...found].sort((a, b) => a - b)),
  };
}

function longest(shards, counts) {
  let found;
  for (const shard of shards) if (found === undefined || counts[shard] > counts[found]) found = shard;
  return found;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function summary(after, before, size, us) {
  const used = (name, count) => (after[name] - before[name]) / (us * count);
  const shares = {
    PostgreSQL: used('postgres', size.postgresCores),
    WAL: used('wal', 1),
    api: used('api', size.apis),
    workers: used('worker', size.workers),
    projectors: used('projector', size.projectors),
  };
  const lockWait = used('lockWait', size.workers * BATCHES_OF_WORKER);
  const [[name, share]] = Object.entries(shares).sort(([, a], [, b]) => b - a);
  const end = share >= 0.9 ? name : lockWait >= 0.2 ? 'posting lock' : 'waits';
  return { eventsPerSecond: ((after.events - before.events) / us) * 1e6, shares, lockWait, end };
}
