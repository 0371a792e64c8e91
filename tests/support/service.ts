import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isRunning, type ProcessIdentity } from '../../packages/service/src/platform/process-identity.js';
import { copyDataDir, sharedScratchFolder } from '../../packages/service/src/testing/scratch-folder.js';
import { type CommandResult, resultOf } from './command-result.js';
import { descendantsOf, killNow } from './process-tree.js';

export type { CommandResult } from './command-result.js';

/** The program that was built. */
export const PROGRAM = fileURLToPath(new URL('../../packages/service/dist/bundle/cli.js', import.meta.url));
const BUNDLE = fileURLToPath(new URL('../../scripts/bundle.mjs', import.meta.url));
const READY_TIMEOUT_MS = 240_000;
const END_TIMEOUT_MS = 120_000;
const POLL_INTERVAL_MS = 20;
/** A start takes seconds: asking more often would take processor time from it. */
const READY_INTERVAL_MS = 100;
const OUTPUT_CHARS_MAX = 2_000_000;

export interface ServiceOptions {
  /** Environment variables in addition to those that place the service. */
  readonly env?: Readonly<Record<string, string>>;
  /** Command and options of `tollgate`. */
  readonly args?: readonly string[];
  /** Whether its data directory is empty, and its first start has to make, in seconds, what is otherwise there. */
  readonly startsEmpty?: boolean;
  /** File of the program; default: the one that was built. */
  readonly program?: string;
  /** Limit of its open files; default: that of the test. */
  readonly filesMax?: number;
  /** File that the service prints to: then it can outlive the test's process. */
  readonly outputFile?: string;
}

/** The processes that a crash ends. */
export type Crash = 'service' | 'service and stores';

/** Asked once: what is built while the tests run is not noticed. */
let isBundled = false;

/**
 * A service that is not started yet, without any tenant. @throws Error when what is built is not of the
 * sources compiled last
 */
export async function newService(options: ServiceOptions = {}): Promise<RunningService> {
  if (!isBundled) {
    execFileSync(process.execPath, [BUNDLE, '--check'], { stdio: ['ignore', 'ignore', 'inherit'] });
    isBundled = true;
  }
  const dataDir = asDataDir(mkdtempSync(join(tmpdir(), 'tollgate-service-')));
  if (options.startsEmpty !== true) await fillDataDir(dataDir);
  return new RunningService(dataDir, await freePort(), options);
}

/** PostgreSQL runs under another account when the test runs as root, and must be able to pass through. */
function asDataDir(folder: string): string {
  chmodSync(folder, 0o711);
  return folder;
}

async function fillDataDir(dataDir: string): Promise<void> {
  copyDataDir(await sharedScratchFolder('started-service', startOnce), dataDir);
}

/** Starts a service, and ends it in order. */
async function startOnce(dataDir: string): Promise<void> {
  const service = new RunningService(dataDir, await freePort(), {});
  await startOrStop(service);
  const exitCode = await service.terminate();
  if (exitCode !== 0) throw new Error(`The service ended with ${exitCode}. It printed:\n${service.output}`);
}

/** Starts a service without any tenant and waits until it is ready. Needs a build. */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const service = await newService(options);
  await startOrStop(service);
  return service;
}

async function startOrStop(service: RunningService): Promise<void> {
  try {
    await service.start();
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/**
 * The service as it is shipped, in a process of its own, with its own data directory and a port that stays
 * the same over restarts. Call `stop` when the test is over, also after a failure.
 */
export class RunningService {
  readonly serviceKey = 'test-service-key-0123456789';
  readonly #options: ServiceOptions;
  #child: ChildProcess | undefined;
  #output = '';
  /** Every process that this service was seen to start, PostgreSQL's above all. */
  #descendants: ProcessIdentity[] = [];

  constructor(
    readonly dataDir: string,
    readonly port: number,
    options: ServiceOptions,
  ) {
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Process id of the service while it runs. */
  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('The service does not run.');
    return pid;
  }

  /** Lets the test's process end while the service runs. */
  unref(): void {
    this.#child?.unref();
  }

  get hasEnded(): boolean {
    return this.#child === undefined;
  }

  /** Output of the service over all its runs; only its end when it is long. */
  get output(): string {
    return this.#output;
  }

  /** Starts the service again on the same data and port, and waits until it is ready. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.#child !== undefined) throw new Error('The service runs already.');
    const child = this.#spawn(this.#options.args ?? ['serve'], env);
    this.#child = child;
    child.once('exit', () => {
      this.#child = undefined;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.#print(text));
    }
    await this.#waitUntilReady(child);
  }

  /** Asks the service to end, as an operator does, and keeps the data. @returns its exit code */
  async terminate(): Promise<number | null> {
    const child = this.#running();
    this.#noteProcesses();
    child.kill('SIGTERM');
    return this.#ended(child, 'after SIGTERM');
  }

  /** SIGKILL, with no time to do anything: to the service alone, which orphans PostgreSQL, or to PostgreSQL as well. */
  async crash(what: Crash = 'service and stores'): Promise<void> {
    const child = this.#running();
    this.#noteProcesses();
    child.kill('SIGKILL');
    if (what === 'service and stores') killNow(this.#descendants);
    await this.#ended(child, 'after SIGKILL');
    if (what === 'service and stores') await this.#allGone();
  }

  /** Stops the service in order if it runs, kills the processes that are left, and deletes the data. */
  async stop(): Promise<void> {
    if (this.#child !== undefined) await this.terminate();
    killNow(this.#descendants);
    await this.#allGone();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Runs another command of `tollgate` with this service's settings, and waits for its end. */
  runCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
    return this.startCommand(args, env).result;
  }

  /** Starts another command of `tollgate` with this service's settings. */
  startCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const child = this.#spawn(args, env);
    return { child, result: resultOf(child) };
  }

  #spawn(args: readonly string[], env: Readonly<Record<string, string>>) {
    const program = [this.#options.program ?? PROGRAM, ...args];
    const line = shellLine(this.#options);
    const inShell = ['-c', line ?? '', process.execPath, ...program];
    return spawn(line === undefined ? process.execPath : '/bin/sh', line === undefined ? program : inShell, {
      cwd: this.dataDir,
      env: {
        ...process.env,
        HOST: '127.0.0.1',
        PORT: String(this.port),
        TOLLGATE_DATA_DIR: this.dataDir,
        TOLLGATE_SERVICE_KEY: this.serviceKey,
        TOLLGATE_LOG_LEVEL: 'warn',
        TOLLGATE_DRAIN_SECONDS: '0',
        ...this.#options.env,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  #running(): ChildProcess {
    if (this.#child === undefined) throw new Error(`The service does not run. It printed:\n${this.#output}`);
    return this.#child;
  }

  #print(text: string): void {
    this.#output = (this.#output + text).slice(-OUTPUT_CHARS_MAX);
  }

  #noteProcesses(): void {
    this.#descendants = [...this.#descendants.filter(isRunning), ...descendantsOf(this.pid)];
  }

  async #waitUntilReady(child: ChildProcess): Promise<void> {
    const deadlineMs = performance.now() + READY_TIMEOUT_MS;
    while (!(await this.#isReady())) {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (hasEnded || performance.now() > deadlineMs) {
        const state = hasEnded ? `ended (${child.signalCode ?? child.exitCode})` : 'did not get ready';
        throw new Error(`The service ${state}. It printed:\n${this.#output}`);
      }
      await delay(READY_INTERVAL_MS);
    }
    this.#noteProcesses();
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/readyz`)).ok;
    } catch {
      return false;
    }
  }

  async #ended(child: ChildProcess, when: string): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) {
      const signal = AbortSignal.timeout(END_TIMEOUT_MS);
      await once(child, 'exit', { signal }).catch(() => {
        throw new Error(`The service did not end ${when}. It printed:\n${this.#output}`);
      });
    }
    return child.exitCode;
  }

  async #allGone(): Promise<void> {
    const deadlineMs = performance.now() + END_TIMEOUT_MS;
    while (this.#descendants.some(isRunning)) {
      if (performance.now() > deadlineMs) {
        const pids = this.#descendants.filter(isRunning).map(({ pid }) => pid);
        throw new Error(`The processes ${pids.join(', ')} do not end.`);
      }
      await delay(POLL_INTERVAL_MS);
    }
  }
}

/** Returns the line of a shell that becomes the program, where the options need one. */
function shellLine({ filesMax, outputFile }: ServiceOptions): string | undefined {
  if (filesMax !== undefined) return `ulimit -n ${filesMax} && exec "$0" "$@"`;
  if (outputFile !== undefined) return `exec "$0" "$@" >'${outputFile}' 2>&1`;
  return undefined;
}

/**
 * A port below those that systems give out by themselves: while the service is down, nobody else comes by it.
 * Above 20,000, none is refused by browsers.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
