// The time for which a tenant is frozen while it moves between two cells, each with embedded stores.
//
//     node bench/tenant-move.mjs [events=1000000] [rate=200] [moves=2]
//
// The tenant has `events` events of 600 bytes with two charge items, posted to a wallet and counted against five limits
// of 10,000 subjects. While it moves there and back, `rate` events a second are sent through the first cell. Prints how
// long each move took, and how long the tenant was frozen; then both cells are recounted. Needs a build.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openEmbeddedStores } from './embedded-stores.mjs';
import { readOptions } from './options.mjs';
import { printTable } from './report.mjs';
import { BenchService } from './service.mjs';
import { ServiceLoad } from './service-load.mjs';

const { events, rate, moves } = readOptions({ events: 1_000_000, rate: 200, moves: 2 });
const CELLS = ['one', 'two'];
/** Longer than any move: the load ends with it. */
const LOAD_SECONDS_MAX = 3_600;
const DRAIN_POLL_MS = 50;

const stores = await openEmbeddedStores({ poolMax: 2, withClickHouse: false });
const services = {};
try {
  await startCells();
  const { one, two } = services;
  await command(['cell', 'drain', 'two']);
  const projects = await one.createProjects(1);
  await one.limitSubjects(projects[0].id);
  await command(['cell', 'add', 'two', '--url', urlOf(two)]);
  const load = new ServiceLoad(one, 'tenant-move', DRAIN_POLL_MS);
  await load.send(
    projects,
    { kind: 'batch', connections: 4, seconds: LOAD_SECONDS_MAX },
    {
      mayBeRefused: true,
      onProgress: ({ accepted }, generator) => accepted >= events && generator.order({ stop: true }),
    },
  );
  await load.drain();
  const { tenant_id: tenantId } = await one.ask('GET', '/v1/me', undefined, projects[0].apiKey);
  const rows = [['to', 'events sent before', 'seconds in all', 'seconds frozen']];
  for (let turn = 0; turn < moves; turn += 1) {
    const to = CELLS[(turn + 1) % CELLS.length];
    const sent = load.accepted;
    const { seconds, frozen } = await moveUnderLoad(load, projects, tenantId, to);
    rows.push([to, sent.toLocaleString('en'), seconds.toFixed(1), frozen]);
    await command(['tenant', 'remove-copy', tenantId, '--now']);
  }
  printTable('Moves of a tenant', rows);
  for (const name of CELLS) {
    await services[name].stop();
    console.log(`cell ${name}: the stores are ${(await services[name].verify()) ? 'equal' : 'NOT EQUAL'}`);
  }
} finally {
  for (const service of Object.values(services)) {
    await service.stop();
    service.removeData();
  }
  await stores.close();
}

async function startCells() {
  await stores.postgres.pool.query('create database directory');
  const { host, port, user, password } = stores.connection;
  const account = [user, password].map(encodeURIComponent).join(':');
  const settings = {
    TOLLGATE_DIRECTORY_URL: `postgresql://${account}@localhost:${port}/directory?host=${encodeURIComponent(host)}`,
  };
  for (const name of CELLS) {
    const service = await BenchService.start();
    services[name] = service;
    service.settings = settings;
    await command(['cell', 'add', name, '--url', urlOf(service)]);
    await service.stop();
    service.settings = { ...settings, TOLLGATE_CELL: name };
    await service.launch();
  }
}

async function moveUnderLoad(load, projects, tenantId, to) {
  let generator;
  const sending = load.send(
    projects,
    { kind: 'single', connections: 8, seconds: LOAD_SECONDS_MAX, eventsPerSecond: rate },
    { mayBeRefused: true, onProgress: (_progress, running) => (generator = running) },
  );
  const startMs = performance.now();
  const lines = await command(['tenant', 'move', tenantId, to]);
  const seconds = (performance.now() - startMs) / 1_000;
  generator?.order({ stop: true });
  await sending;
  const frozen = /frozen for ([\d.]+) s/.exec(lines.at(-1))?.[1];
  if (frozen === undefined) throw new Error(`the tenant did not move: ${lines.at(-1)}`);
  return { seconds, frozen };
}

/** Runs a command of `tollgate`; returns the lines that it printed. */
async function command(args) {
  const child = services.one.spawn(args, 'pipe');
  const lines = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`tollgate ${args.join(' ')} ended with ${code}`);
  return lines;
}

function urlOf({ address: { host, port } }) {
  return `http://${host}:${port}`;
}
