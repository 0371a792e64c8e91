import { afterEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../kernel/errors.js';
import { TestTimers, waitFor } from '../../testing/index.js';
import { ThreadPool, type ThreadPoolOptions } from './thread-pool.js';

/** Jobs of these tests' threads; `wait` lasts until the test ends it. */
interface Jobs {
  readonly echo: { readonly input: unknown; readonly result: unknown };
  readonly wait: { readonly input: string; readonly result: string };
  readonly sum: { readonly input: null; readonly result: number };
  readonly refuse: { readonly input: null; readonly result: null };
  readonly loseStore: { readonly input: null; readonly result: null };
  readonly throwNothing: { readonly input: null; readonly result: null };
  readonly spin: { readonly input: string; readonly result: null };
  readonly exit: { readonly input: null; readonly result: null };
  readonly fillMemory: { readonly input: null; readonly result: null };
}

interface Calls {
  readonly passed: { readonly input: string; readonly result: string };
  readonly bytes: { readonly input: null; readonly result: Uint8Array };
}

const THREADS = new URL('../../../dist/platform/threads/index.js', import.meta.url).href;
const ERRORS = new URL('../../../dist/kernel/errors.js', import.meta.url).href;
const SCRIPT = `
  import { serveJobs } from '${THREADS}';
  import { DomainError } from '${ERRORS}';
  serveJobs({
    echo: async (input) => input,
    wait: (name, call) => call('passed', name),
    sum: async (_input, call) => (await call('bytes', null)).reduce((sum, byte) => sum + byte, 0),
    refuse: async () => {
      const details = [{ path: 'rules[0]', message: 'is wrong' }];
      throw new DomainError('rule_set_not_found', { message: 'No such.', details, inBody: true, retryAfterS: 7 });
    },
    loseStore: async () => { throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }); },
    throwNothing: async () => { throw undefined; },
    spin: async (name, call) => { await call('passed', name); for (;;); },
    exit: async () => process.exit(3),
    fillMemory: async () => { const kept = []; for (;;) kept.push(Array.from({ length: 10_000 }, () => ({}))); },
  });`;

let pool: ThreadPool<Jobs, Calls>;
afterEach(() => pool.close());

function openPool(options: Partial<ThreadPoolOptions> = {}): void {
  pool = new ThreadPool<Jobs, Calls>({
    thread: {
      program: new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`),
      workerData: null,
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    },
    threadsMax: 2,
    idleMsMax: 60_000,
    jobMsMax: 60_000,
    waitingPerOwnerMax: 8,
    waitingMax: 100,
    errors: {
      busy: () => new DomainError('server_busy'),
      tooLong: () => new DomainError('request_timeout'),
      ended: (cause) => new DomainError('internal_error', { cause }),
    },
    ...options,
  });
}

/** Holds jobs in the order in which they arrived. */
class Gate {
  readonly arrived: string[] = [];
  #open: (() => void) | undefined;
  readonly #opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  readonly passed = async (name: string): Promise<string> => {
    this.arrived.push(name);
    await this.#opened;
    return `${name} passed`;
  };

  /** The answer to a call for bytes. */
  readonly given = new Uint8Array([1, 2, 3]);
  readonly bytes = async (): Promise<Uint8Array> => this.given;

  open(): void {
    this.#open?.();
  }
}

const wait = (gate: Gate, owner: string, name: string, signal?: AbortSignal) =>
  pool.run(owner, 'wait', name, { calls: gate, signal });

function run<Name extends keyof Jobs>(name: Name, input: Jobs[Name]['input'], owner = 'a') {
  return pool.run(owner, name, input, { calls: new Gate() });
}

describe('jobs of several owners', () => {
  it('take turns: eight of one do not come before one of another', async () => {
    openPool({ threadsMax: 1 });
    const gate = new Gate();
    const loud = Array.from({ length: 8 }, (_, at) => wait(gate, 'loud', `loud ${at}`));
    await waitFor(() => gate.arrived.length === 1);
    // The owner that was just served is behind all others.
    const quiet = wait(gate, 'quiet', 'quiet');
    gate.open();
    expect(await quiet).toBe('quiet passed');
    expect(await Promise.all(loud)).toHaveLength(8);
    expect(gate.arrived.slice(0, 3)).toEqual(['loud 0', 'quiet', 'loud 1']);
  });

  it('of one owner run one after the other, at the same time as one of another', async () => {
    openPool();
    const gate = new Gate();
    const loud = [wait(gate, 'loud', 'loud 0'), wait(gate, 'loud', 'loud 1')];
    await waitFor(() => gate.arrived.length === 1);
    // The other thread is free, and stays free for another owner.
    expect(pool.counts).toEqual({ running: 1, waiting: 1, threads: 1 });
    expect(await run('echo', { n: 1 }, 'quiet')).toEqual({ n: 1 });
    gate.open();
    expect(await Promise.all(loud)).toEqual(['loud 0 passed', 'loud 1 passed']);
  });

  it('are refused when one owner has as many as may wait, and taken of others', async () => {
    openPool({ waitingPerOwnerMax: 2 });
    const gate = new Gate();
    const loud = [wait(gate, 'loud', '0'), wait(gate, 'loud', '1'), wait(gate, 'loud', '2')];
    await expect(wait(gate, 'loud', '3')).rejects.toMatchObject({ code: 'server_busy' });
    expect(await run('echo', 'x', 'quiet')).toBe('x');
    gate.open();
    await Promise.all(loud);
  });
});

it('moves the bytes of an answer to the thread of the job', async () => {
  openPool();
  const gate = new Gate();
  expect(await pool.run('a', 'sum', null, { calls: gate })).toBe(6);
  expect(gate.given).toHaveLength(0);
});

describe('a job that fails', () => {
  it('fails as it did on its thread', async () => {
    openPool();
    const refused = run('refuse', null);
    await expect(refused).rejects.toBeInstanceOf(DomainError);
    await expect(refused).rejects.toMatchObject({
      code: 'rule_set_not_found',
      inBody: true,
      message: 'No such.',
      details: [{ path: 'rules[0]', message: 'is wrong' }],
      retryAfterS: 7,
    });
    await expect(run('loseStore', null)).rejects.toMatchObject({
      code: 'store_unavailable',
      cause: { message: 'connect' },
    });
    await expect(run('throwNothing', null)).rejects.toThrow('undefined');
    expect(pool.counts.threads).toBe(1);
  });

  it('because it takes too long ends alone: others go on, and the next gets a new thread', async () => {
    const timers = new TestTimers();
    openPool({ jobMsMax: 7, startTimer: timers.start });
    const gate = new Gate();
    gate.open();
    const failing = pool.run('a', 'spin', 'spins', { calls: gate }).catch((error: unknown) => error);
    const next = run('echo', 'next');
    expect(await run('echo', 'beside', 'b')).toBe('beside');
    await waitFor(() => gate.arrived.length === 1);
    timers.started[0]?.end();
    expect(await failing).toMatchObject({ code: 'request_timeout' });
    expect(await next).toBe('next');
    expect(timers.started.map(({ ms }) => ms)).toEqual([7, 7, 7]);
    await waitFor(() => timers.runningCount === 0);
  });

  it.each<[string, 'exit' | 'fillMemory', string]>([
    ['ends its thread', 'exit', 'internal_error'],
    ['takes too much memory', 'fillMemory', 'internal_error'],
  ])('because it %s ends alone: others go on, and the next gets a new thread', async (_, name, code) => {
    openPool();
    const failing = run(name, null).catch((error: unknown) => error);
    const next = run('echo', 'next');
    expect(await run('echo', 'beside', 'b')).toBe('beside');
    const error = await failing;
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({ code });
    expect(await next).toBe('next');
  });
});

describe('a job that is no longer wanted', () => {
  it('ends where it is, with the reason', async () => {
    openPool();
    const gate = new Gate();
    const running = new AbortController();
    const waiting = new AbortController();
    const first = wait(gate, 'a', 'first', running.signal);
    const second = wait(gate, 'a', 'second', waiting.signal);
    const third = wait(gate, 'a', 'third');
    await waitFor(() => gate.arrived.length === 1);
    waiting.abort(new Error('enough of the second'));
    await expect(second).rejects.toThrow('enough of the second');
    running.abort(new Error('enough of the first'));
    await expect(first).rejects.toThrow('enough of the first');
    gate.open();
    expect(await third).toBe('third passed');
    expect(gate.arrived).toEqual(['first', 'third']);
  });
});

describe('threads', () => {
  it('are started when they are needed, and end after a while without a job', async () => {
    openPool({ idleMsMax: 1 });
    expect(pool.counts.threads).toBe(0);
    await run('echo', 1);
    await waitFor(() => pool.counts.threads === 0);
    expect(await run('echo', 2)).toBe(2);
  });

  it('end when the pool closes, with what they do and what waits', async () => {
    openPool();
    const gate = new Gate();
    const jobs = [wait(gate, 'a', 'running'), wait(gate, 'a', 'waiting')];
    const ended = Promise.allSettled(jobs);
    await waitFor(() => gate.arrived.length === 1);
    await pool.close();
    const shuttingDown = { status: 'rejected', reason: { code: 'shutting_down' } };
    expect(await ended).toMatchObject([shuttingDown, shuttingDown]);
    await expect(run('echo', 1)).rejects.toMatchObject({ code: 'shutting_down' });
  });
});
