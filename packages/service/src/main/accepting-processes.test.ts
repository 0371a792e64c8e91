import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../config.js';
import { createMetrics } from '../platform/metrics/index.js';
import { waitFor } from '../testing/index.js';
import { AcceptingProcesses } from './accepting-processes.js';

let folder: string;
let started: AcceptingProcesses | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-accepting-'));
});
afterEach(async () => {
  await started?.stop();
  rmSync(folder, { recursive: true });
});

const READY = `process.on('message', ({ kind }) => {
  if (kind === 'start') process.send({ kind: 'ready' });
  else if (kind === 'stop') process.exit(0);
});`;

/** Never gets ready. */
const HANGING = `process.on('message', ({ kind }) => {
  if (kind === 'stop') process.exit(0);
});`;

/** Gets ready, and then does nothing any more. */
const BLOCKED = `process.once('message', () => process.send({ kind: 'ready' }, () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}));`;

/** Starts two processes that run `script`, and records what is reported of them. */
async function start(
  script: string,
  { signal, ...options }: { signal?: AbortSignal; startMsMax?: number; nowMs?: () => number } = {},
) {
  const file = join(folder, 'program.mjs');
  writeFileSync(file, script);
  const ended: string[] = [];
  const warnings: unknown[] = [];
  let appended = 0;
  const processes = new AcceptingProcesses({
    data: {
      config: readConfig({}),
      postgresConnection: '',
      folders: undefined,
      serviceKey: 'k',
      processes: 2,
      connectionsMax: 1,
    },
    log: { warn: (fields: object) => void warnings.push(fields) } as never,
    owner: 'owner',
    endConnections: async (name) => void ended.push(name),
    onAppended: () => {
      appended += 1;
    },
    program: pathToFileURL(file),
    ...options,
  });
  started = processes;
  await processes.start(() => {}, signal);
  return { processes, ended, warnings, appended: () => appended };
}

describe('accepting processes', () => {
  it('are ready before they are given connections, and are asked to stop', async () => {
    const { processes, warnings } = await start(READY);
    expect(() => processes.check()).not.toThrow();
    await processes.stop();
    expect(warnings).toEqual([]);
    expect(() => processes.check()).toThrow('0 of 2 accepting processes run');
  });

  it('that do not get ready hold up the start only for some time', async () => {
    const { processes, warnings } = await start(HANGING, { startMsMax: 20 });
    expect(warnings).toEqual([{ startMsMax: 20 }]);
    expect(() => processes.check()).toThrow('0 of 2 accepting processes run');
  });

  it('that do not get ready do not hold up an abort of the start', async () => {
    const abort = new AbortController();
    const starting = start(HANGING, { signal: abort.signal });
    abort.abort(new Error('stopped'));
    await expect(starting).rejects.toThrow('stopped');
  });

  it('report what they append', async () => {
    const { appended } = await start(`${READY} process.send({ kind: 'appended' });`);
    await waitFor(() => appended() === 2);
  });

  it('drain when they are told to, and those that start later too', async () => {
    const { processes, appended, warnings } = await start(`process.on('message', ({ kind }) => {
      if (kind === 'start') process.send({ kind: 'ready' });
      else if (kind === 'drain') process.send({ kind: 'appended' }, () => process.exit(3));
    });`);
    processes.drain();
    await waitFor(() => appended() >= 4);
    expect(warnings.length).toBeGreaterThanOrEqual(2);
  });

  it('that do not report their metrics count with those that they reported last', async () => {
    const { processes } = await start(READY);
    const metrics = createMetrics();
    expect(await processes.metricsText(metrics)).toContain('process_cpu_seconds_total');
  });

  it('that do not report their metrics for too long count as away', async () => {
    let nowMs = 0;
    const { processes } = await start(
      `let asked = 0;
      process.on('message', ({ kind }) => {
        if (kind === 'start') process.send({ kind: 'ready' });
        else if (kind === 'stop') process.exit(0);
        else if (++asked === 2) process.send({ kind: 'metrics', metrics: [] });
      });`,
      { nowMs: () => nowMs },
    );
    await processes.metricsText(createMetrics());
    nowMs = 5_000;
    expect(() => processes.check()).not.toThrow();
    await processes.metricsText(createMetrics());
    nowMs = 5_001;
    expect(() => processes.check()).not.toThrow();
    await processes.metricsText(createMetrics());
    nowMs = 10_002;
    expect(() => processes.check()).toThrow('0 of 2 accepting processes run');
    expect(processes.passOn({} as never)).toBe(false);
  });

  it('that do not confirm connections for too long count as away', async () => {
    let nowMs = 0;
    const { processes } = await start(BLOCKED, { nowMs: () => nowMs });
    const passed: boolean[] = [];
    const server = createServer((socket) => void passed.push(processes.passOn(socket)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const clients = Array.from({ length: 6 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await waitFor(() => passed.length === clients.length);
    server.close();
    expect(passed).not.toContain(false);
    expect(() => processes.check()).not.toThrow();
    nowMs = 5_001;
    expect(() => processes.check()).toThrow('0 of 2 accepting processes run');
    for (const client of clients) client.destroy();
  });

  it('that are killed leave no connection open that was on its way to them', async () => {
    const { processes } = await start(`import { writeFileSync } from 'node:fs';
      writeFileSync(new URL('pid-' + process.pid, import.meta.url), '');
      ${BLOCKED}`);
    const passed: boolean[] = [];
    const server = createServer((socket) => void passed.push(processes.passOn(socket)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const clients = Array.from({ length: 4 }, () =>
      connect(port, '127.0.0.1')
        .on('error', () => {})
        .resume(),
    );
    await waitFor(() => passed.length === clients.length);
    expect(passed).not.toContain(false);
    const ended = clients.map((client) => new Promise((resolve) => client.once('close', resolve)));
    for (const name of readdirSync(folder)) {
      const [, pid] = /^pid-(\d+)$/.exec(name) ?? [];
      if (pid !== undefined) process.kill(Number(pid), 'SIGKILL');
    }
    await Promise.all(ended);
    server.close();
  });

  it('that end while metrics are asked for are counted once', async () => {
    const { processes, warnings } = await start(`let number;
      let asked = 0;
      const metric = { name: 'tests_total', help: 'x', type: 'counter', values: [{ value: 5, labels: {} }] };
      process.on('message', (message) => {
        if (message.kind === 'start') {
          number = message.number;
          process.send({ kind: 'ready' });
        } else if (message.kind === 'stop') process.exit(0);
        else if (++asked === 1) process.send({ kind: 'metrics', metrics: [{ ...metric, aggregator: 'sum' }] });
        else if (number === 1) process.exit(3);
      });`);
    const text = () => processes.metricsText(createMetrics());
    expect(await text()).toContain('tests_total 10\n');
    // The first process ends, and the second does not report.
    expect(await text()).toContain('tests_total 10\n');
    expect(warnings).toHaveLength(1);
  });

  it('that end are started again once their connections have ended; until then nobody takes connections', async () => {
    const { processes, ended, warnings } = await start('process.exit(3);');
    expect(processes.passOn({} as never)).toBe(false);
    expect(() => processes.check()).toThrow('0 of 2 accepting processes run');
    await waitFor(() => warnings.length === 4);
    expect(warnings[0]).toMatchObject({ reason: 'it ended with 3' });
    expect(ended.sort()).toEqual(['tollgate accept 1 owner', 'tollgate accept 2 owner']);
  });

  it('that get ready after they were told to stop take no connections', async () => {
    const { processes, appended } = await start(`let stops = 0;
      process.on('message', ({ kind }) => {
        if (kind === 'stop' && ++stops === 2) process.exit(0);
        process.send({ kind: 'ready' });
        if (kind === 'stop') process.send({ kind: 'appended' });
      });`);
    const stopped = processes.stop();
    await waitFor(() => appended() === 2);
    expect(() => processes.check()).toThrow('0 of 2 accepting processes run');
    await processes.stop();
    await stopped;
  });

  it('that do not stop are killed', async () => {
    const { processes } = await start("process.on('message', () => process.send({ kind: 'ready' }));");
    await processes.stop();
    expect(() => processes.check()).toThrow('0 of 2');
  });
});
