import { describe, expect, test } from 'vitest';
import { waitFor } from '../testing/index.js';
import { WorkerHost } from './worker-host.js';

const DATA = {
  postgresConnection: '',
  owner: '',
  isTraced: false,
  connectionsMax: 1,
  folders: undefined,
  objectStore: undefined,
  logLevel: 'silent',
} as const;

/**
 * Creates a host whose thread runs `script` instead of the worker, and records the reasons of the thread's end and the
 * number of its batches.
 */
function host(script: string) {
  const reasons: string[] = [];
  let committed = 0;
  const events = {
    onBatchCommitted: () => {
      committed += 1;
    },
    onBatchEnded: () => {},
    onFullClaim: () => {},
    onStats: () => {},
    onUnexpectedExit: (reason: string) => void reasons.push(reason),
  };
  const program = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  return { reasons, committed: () => committed, host: new WorkerHost(DATA, events, 48, program) };
}

const ON_STOP = "import { parentPort } from 'node:worker_threads'; parentPort.once('message', () => { %s });";

/** Commits a batch on each notification. */
const ON_NEWS = `import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ kind }) => {
    if (kind === 'stop') parentPort.close();
    else parentPort.postMessage({ kind: 'batch-committed' });
  });`;

describe('the rating thread', () => {
  test('is notified of news at once, and once later of more that came meanwhile', async () => {
    const { host: thread, committed } = host(ON_NEWS);
    thread.notify();
    await waitFor(() => committed() === 1);
    for (let times = 0; times < 100; times += 1) thread.notify();
    const before = committed();
    await waitFor(() => committed() === before + 1);
    await thread.stop();
    expect(committed() - before).toBeLessThanOrEqual(2);
  });

  test('is notified of found segments at once, each time', async () => {
    const { host: thread, committed } = host(ON_NEWS);
    thread.notifyFound('waiting');
    thread.notifyFound('deferred');
    await waitFor(() => committed() === 2);
    await thread.stop();
  });

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
  ])('that %s when it is stopped is not reported', async (_what, script) => {
    const { host: thread, reasons } = host(ON_STOP.replace('%s', script));
    await thread.stop();
    expect(reasons).toEqual([]);
  });
});
