import { once } from 'node:events';
import type { Socket } from 'node:net';
import { systemClock } from '../kernel/clock.js';
import { createEntitlements, TenantAdmission } from '../modules/catalog/index.js';
import { IngestService, PENDING_BYTES_MAX, registerIngestRoutes } from '../modules/ingest/index.js';
import { TenantGate } from '../modules/moves/index.js';
import { createRuleSets } from '../modules/rules/index.js';
import { createUsageHistory } from '../modules/storage/index.js';
import { createCallerFinder } from '../modules/tenancy/index.js';
import {
  BODIES_BYTES_MAX,
  closeGracefully,
  createApp,
  limitKeyRates,
  passSocket,
  Readiness,
  takeSocket,
} from '../platform/http/index.js';
import { createLog } from '../platform/log/index.js';
import { createMetrics } from '../platform/metrics/index.js';
import { openObjectStore } from '../platform/object-store/index.js';
import { connectPostgres } from '../platform/postgres/index.js';
import type { FromAccepting, ToAccepting } from './accepting-protocol.js';
import { baselineOf } from './baseline.js';
import { letHeapsGrow } from './heap.js';
import { PacedNotice } from './paced-notice.js';
import { yieldHelperThreads } from './priority.js';
import { measurePool } from './process-metrics.js';
import { openQueue } from './segment-queue.js';
import { startTracing } from './tracing.js';

/**
 * Accepts events on a processor core of its own: the main process passes connections here, and gets those back that
 * carry anything but plain ingest requests.
 */

/** The rating thread gathers events for longer than this before it claims. */
const NOTICE_INTERVAL_MS = 25;
/** Deadline of requests in progress at a stop: the main process then still has time for its own. */
const REQUESTS_MS_MAX = 2_000;

// The main process gets the signals of a whole group too, and stops this one when it is time.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
// Without the main process nobody could stop this one.
process.once('disconnect', () => process.exit(1));
letHeapsGrow();
const [start] = (await once(process, 'message')) as [Extract<ToAccepting, { kind: 'start' }>];
const { number, applicationName } = start;
const { config, postgresConnection, folders, serviceKey, processes, connectionsMax } = start.data;
const log = createLog({ level: config.logLevel, role: 'api' });
const metrics = createMetrics();
const tracing = await startTracing(config, 'accepting', log);
const readiness = new Readiness();
const stopping = new AbortController();
const postgres = connectPostgres({
  connection: postgresConnection,
  applicationName,
  poolMax: config.databaseConnectionsMax,
  log,
});
measurePool(metrics, postgres.pool);
const objects = config.objectStoreUrl && (await openObjectStore(config.objectStoreUrl));
const appended = new PacedNotice(NOTICE_INTERVAL_MS, () => send({ kind: 'appended' }));
const queue = await openQueue({ postgres, folders, objects }, config, {
  log,
  metrics,
  onAppended: () => appended.notify(),
  writer: { number, count: 1 + processes },
});
const gate = config.cell === undefined ? undefined : new TenantGate(postgres);
await gate?.refresh();
const watching = gate?.job(log).run(stopping.signal);
const ingest = createIngest();
const app = await createApp({
  ...createCallerFinder({ postgres, clock: systemClock, serviceKey, mayMove: gate !== undefined }),
  keyRates: limitKeyRates(config.keyRate),
  log,
  metrics,
  tracing,
  readiness,
  bodiesBytesMax: Math.floor(BODIES_BYTES_MAX / processes),
  handOver: (socket) => passSocket(process, socket),
});
registerIngestRoutes(app, { service: ingest });
await app.ready();
let connections = 0;
process.on('message', (message: ToAccepting, socket?: Socket) => {
  if (message.kind === 'connection') {
    // The client may have left meanwhile; then there is a message without a socket.
    if (socket === undefined) return;
    takeSocket(message, socket);
    take(socket);
  } else if (message.kind === 'metrics') {
    void metrics.getMetricsAsJSON().then((values) => send({ kind: 'metrics', metrics: values }));
  } else if (message.kind === 'drain') readiness.beginDrain();
  else if (message.kind === 'stop') void stop();
});
yieldHelperThreads(log);
send({ kind: 'ready' });

function createIngest(): IngestService {
  const history = createUsageHistory({ postgres });
  const baseline = baselineOf(config);
  return new IngestService({
    ...queue,
    publications: createRuleSets({ postgres, clock: systemClock }).publications,
    clock: systemClock,
    admission: new TenantAdmission(createEntitlements({ postgres, history, clock: systemClock, baseline })),
    backlogEventsMax: config.ingestBacklogEventsMax,
    pendingBytesMax: Math.floor(PENDING_BYTES_MAX / processes),
    moving: gate,
  });
}

/** Serves a connection; the main process serves it when there are too many here. */
function take(socket: Socket): void {
  if (connections >= connectionsMax) {
    passSocket(process, socket);
    return;
  }
  connections += 1;
  socket.once('close', () => {
    connections -= 1;
  });
  app.server.emit('connection', socket);
}

/** Ends the process once all requests have their response. */
async function stop(): Promise<void> {
  readiness.beginShutdown();
  await closeGracefully(app, REQUESTS_MS_MAX);
  await ingest.close();
  const traced = tracing?.close();
  appended.stop();
  await queue.close();
  stopping.abort();
  await watching;
  await postgres.close();
  await objects?.close();
  await traced;
  process.exit(0);
}

function send(message: FromAccepting): void {
  process.send?.(message, undefined, {}, () => {});
}
