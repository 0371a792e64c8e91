import { describe, expect, test } from 'vitest';
import { waitFor } from '../testing/index.js';
import { WorkerHost } from './worker-host.js';

const DATA = {
  postgresConnection: '',
  connectionsMax: 1,
  folders: undefined,
  logLevel: 'silent',
} as const;

/** A host whose thread runs `script` instead of the worker, and what it said of the thread's end. */
function host(script: string) {
  const reasons: string[] = [];
  const events = {
    onBatchCommitted: () => {},
    onStats: () => {},
    onUnexpectedExit: (reason: string) => void reasons.push(reason),
  };
  const program = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  return { reasons, host: new WorkerHost(DATA, events, program) };
}

const ON_STOP = "import { parentPort } from 'node:worker_threads'; parentPort.once('message', () => { %s });";

describe('the rating thread', () => {
  test.each([
    ['throws', "throw new Error('no spool')", 'The rating thread failed: no spool.'],
    ['throws what is no error', 'throw null', /^The rating thread failed: .*\.$/],
    ['ends', '', 'The rating thread ended.'],
  ])('that %s by itself is reported, and can still be stopped', async (_what, script, reason) => {
    const { host: thread, reasons } = host(script);
    await waitFor(() => reasons.length > 0);
    expect(reasons).toEqual([expect.stringMatching(reason)]);
    await thread.stop();
  });

  test.each([
    ['ends', ''],
    ['throws', "throw new Error('too late')"],
  ])('that %s when it is told to stop is not reported', async (_what, script) => {
    const { host: thread, reasons } = host(ON_STOP.replace('%s', script));
    await thread.stop();
    expect(reasons).toEqual([]);
  });
});
