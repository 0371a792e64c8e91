import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const BUILT = new URL('../../dist/', import.meta.url);

/** A separate process that can be killed. It runs the built service, which `npm test` builds first. */
export interface BuiltProcess {
  readonly child: ChildProcess;
  /** Returns the next line of output; throws, with the error output, when the process ends instead. */
  nextLine(): Promise<string>;
  /** Kills the process as a crash would; resolves, once it is gone, to the rest of its output. */
  kill(): Promise<string[]>;
}

/** Runs a script in which `{dist}` stands for the URL of the built service. */
export function startBuiltProcess(
  script: string,
  args: readonly string[],
  identity: { uid?: number; gid?: number } = {},
): BuiltProcess {
  const text = script.replaceAll('{dist}', BUILT.href);
  const child = spawn(process.execPath, ['--input-type=module', '--eval', text, ...args], {
    ...identity,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    nextLine: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`The process ended early: ${complaint}`);
      return value;
    },
    kill: async () => {
      child.kill('SIGKILL');
      const rest: string[] = [];
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) return rest;
        rest.push(value);
      }
    },
  };
}
