import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** How a command of `tollgate` ended, and what it printed. */
export interface CommandResult {
  readonly exitCode: number | null;
  /** Standard output and standard error, as they came. */
  readonly output: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits for the end of a command that was just started. */
export async function resultOf(child: ChildProcessByStdio<null, Readable, Readable>): Promise<CommandResult> {
  const printed = { output: '', stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed.output += text;
      printed[name] += text;
    });
  }
  await once(child, 'close');
  return { exitCode: child.exitCode, ...printed };
}
