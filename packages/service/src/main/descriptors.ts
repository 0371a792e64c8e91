import type { Config } from '../config.js';
import { FORWARDED_MAX, SURPLUS_CONNECTIONS_MAX } from '../platform/http/index.js';
import { S3_SOCKETS_MAX } from '../platform/object-store/index.js';
import { PASSED_MAX } from './accepting-host.js';
import { DIRECTORY_CONNECTIONS_MAX } from './cell.js';
import { StartError } from './start-error.js';
import { acceptingProcessesOf, ratingThreadsOf } from './workers.js';

/**
 * Descriptors of a process that does nothing yet: of Node.js, its libraries and threads, the log, and files
 * that wait to be rated or copied.
 */
const OWN_DESCRIPTORS = 64;
/** The channel to an accepting process, a connection that it has not confirmed yet, and those that wait behind it. */
const ACCEPTING_DESCRIPTORS = 2 + PASSED_MAX;
/** Connections of the rating role to receivers of webhooks. */
const WEBHOOK_DESCRIPTORS = 64;
/** Connections to a ClickHouse server. */
const CLICKHOUSE_SERVER_DESCRIPTORS = 32;
/** Connections of the api role to other cells and their directory. */
const CELL_DESCRIPTORS = FORWARDED_MAX + DIRECTORY_CONNECTIONS_MAX;
/** Files of the embedded ClickHouse under light load: mostly three for each of its threads. */
const CLICKHOUSE_DESCRIPTORS_MIN = 128;
/** Largest number of files observed: a merge of large parts opens hundreds. */
const CLICKHOUSE_DESCRIPTORS = 450;

/** With fewer connections the service is of no use. */
const CONNECTIONS_MIN = 64;
/** With fewer connections, a few dozen open pages of the console and some busy clients would take all of them. */
const CONNECTIONS_PLENTY = 256;
/** Upper bound whatever the number of descriptors, because each connection takes memory as well. */
const CONNECTIONS_MAX = 50_000;

export interface DescriptorPlan {
  /** Upper bound of the open HTTP connections. */
  readonly connectionsMax: number;
  /** One sentence when there are enough to start, but not for much load. */
  readonly warning: string | undefined;
}

/**
 * Divides the file descriptors of this process between its stores and the connections of clients.
 *
 * @param limit how many it may open
 * @throws StartError when they are too few to start
 */
export function planDescriptors(
  config: Pick<
    Config,
    | 'roles'
    | 'workers'
    | 'expressLane'
    | 'clickhouseUrl'
    | 'databaseConnectionsMax'
    | 'directoryUrl'
    | 'objectStoreUrl'
  >,
  limit: number,
): DescriptorPlan {
  const isWorker = config.roles.includes('worker');
  const isEmbedded = config.clickhouseUrl === undefined;
  const isCell = config.directoryUrl !== undefined && config.roles.includes('api');
  const pools = 1 + ratingThreadsOf(config);
  const own =
    OWN_DESCRIPTORS +
    SURPLUS_CONNECTIONS_MAX +
    pools * poolDescriptors(config) +
    acceptingProcessesOf(config) * ACCEPTING_DESCRIPTORS;
  const least = own + (isEmbedded ? CLICKHOUSE_DESCRIPTORS_MIN : CLICKHOUSE_SERVER_DESCRIPTORS);
  const reserved =
    own +
    (isWorker ? WEBHOOK_DESCRIPTORS : 0) +
    (isCell ? CELL_DESCRIPTORS : 0) +
    (isEmbedded ? CLICKHOUSE_DESCRIPTORS : CLICKHOUSE_SERVER_DESCRIPTORS);
  if (limit < least + CONNECTIONS_MIN) {
    throw new StartError(
      `This process may open ${limit} files and needs at least ${least + CONNECTIONS_MIN}; ${remedy(reserved)}.`,
    );
  }
  const connectionsMax = Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, limit - reserved));
  const warning =
    connectionsMax < CONNECTIONS_PLENTY
      ? `This process may open ${limit} files, which leaves ${connectionsMax} HTTP connections; ${remedy(reserved)}.`
      : undefined;
  return { connectionsMax, warning };
}

/** Returns the upper bound of the open HTTP connections of each accepting process. */
export function acceptingConnectionsMax(
  config: Pick<Config, 'roles' | 'workers' | 'expressLane' | 'databaseConnectionsMax' | 'objectStoreUrl'>,
  limit: number,
): number {
  const own = OWN_DESCRIPTORS + poolDescriptors(config);
  const share = Math.floor(CONNECTIONS_MAX / acceptingProcessesOf(config));
  return Math.min(share, Math.max(CONNECTIONS_MIN, limit - own));
}

/** Returns the descriptors of a pool of connections, and of the same pool's object store. */
function poolDescriptors({
  databaseConnectionsMax,
  objectStoreUrl,
}: Pick<Config, 'databaseConnectionsMax' | 'objectStoreUrl'>): number {
  return databaseConnectionsMax + (objectStoreUrl?.kind === 's3' ? S3_SOCKETS_MAX : 0);
}

function remedy(reserved: number): string {
  return `raise the limit to ${reserved + CONNECTIONS_PLENTY} or more (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of Docker)`;
}

/** The number of files that this process may open. Node.js raised the limit to the hard one when it started. */
export function descriptorLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  // 'unlimited', or a system that does not report it.
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
