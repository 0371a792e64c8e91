import { parentPort } from 'node:worker_threads';
import { errorFromData, errorToData } from './error-data.js';
import type { FromThread, JobOutcome, Signatures, ToThread } from './messages.js';

/** Calls a function of the thread that gave the job. */
export type Call<Calls extends Signatures<Calls>> = <Name extends keyof Calls & string>(
  name: Name,
  input: Calls[Name]['input'],
) => Promise<Calls[Name]['result']>;

/** Functions that run the jobs, by the name of the job. */
export type JobHandlers<Jobs extends Signatures<Jobs>, Calls extends Signatures<Calls>> = {
  readonly [Name in keyof Jobs]: (
    input: Jobs[Name]['input'],
    call: Call<Calls>,
  ) => Promise<Jobs[Name]['result']>;
};

/** Runs the jobs that a ThreadPool gives to this thread, until the pool ends it. */
export function serveJobs<Jobs extends Signatures<Jobs>, Calls extends Signatures<Calls>>(
  handlers: JobHandlers<Jobs, Calls>,
): void {
  const port = parentPort;
  if (port === null) throw new Error('jobs are served on worker threads only');
  const send = (message: FromThread): void => port.postMessage(message);
  const calls = new Map<number, (outcome: JobOutcome) => void>();
  let callCount = 0;
  const call: Call<Calls> = (name, input) =>
    new Promise((resolve, reject) => {
      callCount += 1;
      calls.set(callCount, (outcome) => {
        if (outcome.ok) resolve(outcome.value);
        else reject(errorFromData(outcome.error));
      });
      send({ kind: 'call', callNo: callCount, name, input });
    });
  const work = async (name: string, input: unknown): Promise<void> => {
    let outcome: JobOutcome;
    try {
      outcome = { ok: true, value: await handlers[name as keyof Jobs](input, call) };
    } catch (error) {
      outcome = { ok: false, error: errorToData(error) };
    }
    calls.clear();
    send({ kind: 'done', outcome });
  };
  port.on('message', (message: ToThread) => {
    if (message.kind === 'job') {
      void work(message.name, message.input);
      return;
    }
    calls.get(message.callNo)?.(message.outcome);
    calls.delete(message.callNo);
  });
}
