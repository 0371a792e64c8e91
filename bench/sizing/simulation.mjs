// Simulated time, and the resources for which simulated processes wait: processors, locks, a disk.

/** Upper bound of a task's turn on a processor: about the time slice of Linux. */
const QUANTUM_US = 4_000;

/**
 * Runs processes in simulated time. A process is a generator; it yields a wait: a function that gets the simulation's
 * callback and calls it when the wait is over.
 */
export class Simulation {
  nowUs = 0;
  /** A binary heap of pending calls, the earliest first; calls with the same time run in the order of their numbers. */
  #heap = [];
  #count = 0;

  start(process) {
    const { done, value: wait } = process.next();
    if (!done) wait(() => this.start(process));
  }

  /** Runs all processes until `endUs`. */
  runUntil(endUs) {
    while (this.#heap.length > 0 && this.#heap[0].atUs <= endUs) {
      const { atUs, call } = this.#takeFirst();
      this.nowUs = atUs;
      call();
    }
    this.nowUs = endUs;
  }

  /** Returns a wait of this length. */
  delay(us) {
    return (resume) => this.callIn(us, resume);
  }

  callIn(us, call) {
    const entry = { atUs: this.nowUs + us, number: this.#count, call };
    this.#count += 1;
    let at = this.#heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, this.#heap[parent])) break;
      this.#heap[at] = this.#heap[parent];
      at = parent;
    }
    this.#heap[at] = entry;
  }

  #takeFirst() {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child += 1;
      if (!isBefore(heap[child], last)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a, b) {
  return a.atUs < b.atUs || (a.atUs === b.atUs && a.number < b.number);
}

/** The processors of a machine, or the single one of a thread; waiting tasks take turns. */
export class Cores {
  busyUs = 0;
  #simulation;
  #free;
  #waiting = new Queue();

  constructor(simulation, count) {
    this.#simulation = simulation;
    this.count = count;
    this.#free = count;
  }

  /** Returns a wait until this much processor time is used. */
  use(us) {
    return (resume) => {
      if (us <= 0) return resume();
      this.#waiting.add({ leftUs: us, resume });
      this.#fill();
    };
  }

  #fill() {
    while (this.#free > 0 && this.#waiting.length > 0) {
      const task = this.#waiting.take();
      const turnUs = Math.min(task.leftUs, QUANTUM_US);
      this.#free -= 1;
      this.#simulation.callIn(turnUs, () => this.#endTurn(task, turnUs));
    }
  }

  #endTurn(task, turnUs) {
    this.busyUs += turnUs;
    this.#free += 1;
    task.leftUs -= turnUs;
    if (task.leftUs > 0) this.#waiting.add(task);
    this.#fill();
    if (task.leftUs <= 0) task.resume();
  }
}

/** A lock with a queue in the order of arrival. */
export class Lock {
  waitedUs = 0;
  #simulation;
  #isHeld = false;
  #waiting = new Queue();

  constructor(simulation) {
    this.#simulation = simulation;
  }

  take() {
    const askedUs = this.#simulation.nowUs;
    return (resume) => {
      const begin = () => {
        this.waitedUs += this.#simulation.nowUs - askedUs;
        resume();
      };
      if (this.#isHeld) return this.#waiting.add(begin);
      this.#isHeld = true;
      begin();
    };
  }

  release() {
    if (this.#waiting.length > 0) this.#waiting.take()();
    else this.#isHeld = false;
  }
}

/** A first-in, first-out queue; a plain array would move all elements at each removal. */
class Queue {
  #items = [];
  #begin = 0;

  get length() {
    return this.#items.length - this.#begin;
  }

  add(item) {
    this.#items.push(item);
  }

  take() {
    const item = this.#items[this.#begin];
    this.#items[this.#begin] = undefined;
    this.#begin += 1;
    if (this.#begin > 1_024 && this.#begin * 2 > this.#items.length) {
      this.#items.splice(0, this.#begin);
      this.#begin = 0;
    }
    return item;
  }
}
