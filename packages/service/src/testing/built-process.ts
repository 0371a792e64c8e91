import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const BUILT = new URL('../../dist/', import.meta.url);

/** A process of its own that can be killed. It runs the built service, which `npm test` builds first. */
export interface BuiltProcess {
  readonly child: ChildProcess;
  /** The next line it prints; throws, with what it said on stderr, when it ends instead. */
  nextLine(): Promise<string>;
  /** Kills it as a crash would; resolves, when it is gone, to the lines that it still printed. */
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
