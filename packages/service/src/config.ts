import { resolve } from 'node:path';
import {
  describeSetting,
  optional,
  readSetting,
  type Setting,
  secret,
  setting,
  variablesOf,
} from './config-setting.js';
import {
  integer,
  readApiKey,
  readBaselinePlan,
  readBoolean,
  readCellName,
  readClickHouseUrl,
  readClusterName,
  readDatabaseUrl,
  readFlag,
  readHost,
  readLogLevel,
  readPaymentProvider,
  readPublicUrl,
  readSecrets,
  readServiceKey,
  readServiceUrl,
  urlOf,
} from './config-values.js';
import { SHARDS_MAX } from './kernel/shard.js';
import { LOG_LEVELS } from './platform/log/index.js';
import { readObjectStoreUrl } from './platform/object-store/index.js';

/** The roles that a process of the service can take. */
export const ROLES = ['api', 'worker', 'projector'] as const;
export type Role = (typeof ROLES)[number];

/** Reads a number of workers, as in `--workers 2`. @throws Error "a whole number …" */
export const readWorkers = integer(1, 16);

const SETTINGS = {
  host: setting('HOST', '127.0.0.1', 'Address to listen on; `0.0.0.0` or `::` for all interfaces.', readHost),
  port: setting('PORT', '8080', 'TCP port to listen on; `0` for any free port.', integer(0, 65_535)),
  dataDir: setting(
    'TOLLGATE_DATA_DIR',
    'data',
    'Folder of the embedded stores and the service key, relative to the working directory. Not used if both stores are servers of your own.',
    (text) => resolve(text),
  ),
  databaseUrl: secret(
    'TOLLGATE_DATABASE_URL',
    'PostgreSQL 15 or later to use instead of the embedded one: `postgresql://user:password@host:5432/database`; with TLS, `?sslmode=verify-full` and the files of certificates, `sslrootcert=`, `sslcert=` and `sslkey=`. [Guide](guides/postgresql.md).',
    readDatabaseUrl,
  ),
  migrate: setting(
    'TOLLGATE_MIGRATE',
    '1',
    'With `1` a process that starts migrates both stores, and the directory of cells, to the schema of its version; with `0`, or with `--no-migrate`, it only checks that nothing is pending. A newer schema is accepted if this version works with it. `tollgate migrate` always migrates the stores, and the commands of `tollgate cell` the directory. [Guide](upgrading.md).',
    readFlag,
  ),
  clickhouseUrl: secret(
    'TOLLGATE_CLICKHOUSE_URL',
    'ClickHouse to use instead of the embedded one: `http://user:password@host:8123/database`; with several hosts, the replicas of a cluster: `http://user:password@one:8123,two:8123/database`. `sslrootcert=`, `sslcert=` and `sslkey=` name files of certificates for `https://`. [Guide](guides/clickhouse.md).',
    readClickHouseUrl,
  ),
  clickhouseCluster: optional(
    'TOLLGATE_CLICKHOUSE_CLUSTER',
    'Name of the cluster in `system.clusters` whose replicas have the tables of ClickHouse; `default` in ClickHouse Cloud. Only with `TOLLGATE_CLICKHOUSE_URL`. If unset, the tables are on one server. [Guide](guides/clickhouse.md).',
    readClusterName,
  ),
  objectStoreUrl: optional(
    'TOLLGATE_OBJECT_STORE_URL',
    'Object store for bytes that your own PostgreSQL server would otherwise store for seconds: `file:///shared/folder`, a folder that all machines share, or `s3://bucket/prefix?endpoint=…&region=…&path_style=1`, with credentials in `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` or from another source of the AWS SDK. `segment_kib=` sets the minimum size of received bytes that go to the store, and `sslrootcert=`, `sslcert=` and `sslkey=` name files of certificates. If unset, PostgreSQL stores these bytes. [Guide](guides/object-store.md).',
    readObjectStoreUrl,
  ),
  directoryUrl: secret(
    'TOLLGATE_DIRECTORY_URL',
    'PostgreSQL database of the [directory of cells](guides/cells.md), which must contain nothing else. Set it together with `TOLLGATE_CELL`. If unset, this installation is not a cell.',
    readDatabaseUrl,
  ),
  cell: optional(
    'TOLLGATE_CELL',
    'Name of this installation as a cell. All cells need the same `TOLLGATE_SERVICE_KEY`.',
    readCellName,
  ),
  serviceKey: secret(
    'TOLLGATE_SERVICE_KEY',
    'The service key: 16 to 200 visible characters. Required if both stores are servers of your own. By default, the first start generates one and stores it in `service-key` of the data folder.',
    readServiceKey,
  ),
  otlpEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'URL of a collector of OpenTelemetry that receives [traces](#traces) by HTTP, such as `http://localhost:4318`; `v1/traces` is added to it. If neither this variable nor the next one is set, no traces are recorded.',
    urlOf('http:', 'https:'),
  ),
  otlpTracesEndpoint: optional(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'As the previous variable, and takes precedence: the whole URL for traces.',
    urlOf('http:', 'https:'),
  ),
  sdkDisabled: setting(
    'OTEL_SDK_DISABLED',
    'false',
    'With `true` no traces are recorded, whatever the other variables say.',
    readBoolean,
  ),
  roles: setting(
    'TOLLGATE_ROLES',
    ROLES.join(','),
    'Roles of this process, separated by commas; `--roles` takes precedence.',
    readRoles,
  ),
  logLevel: setting(
    'TOLLGATE_LOG_LEVEL',
    'info',
    `Lowest level that is logged: ${LOG_LEVELS.join(', ')}.`,
    readLogLevel,
  ),
  eventAgeDaysMax: setting(
    'TOLLGATE_EVENT_AGE_DAYS_MAX',
    '3650',
    'Days that `occurred_at` of an event may lie in the past; the subscription plan of a tenant takes precedence.',
    integer(0, 36_500),
  ),
  eventAheadDaysMax: setting(
    'TOLLGATE_EVENT_AHEAD_DAYS_MAX',
    '30',
    'Days that `occurred_at` of an event may lie in the future; the subscription plan of a tenant takes precedence.',
    integer(0, 3_650),
  ),
  baselinePlan: setting(
    'TOLLGATE_BASELINE_PLAN',
    'unlimited',
    'Allowances of a tenant without a granted plan: with `unlimited` it may use everything without a limit; with `none` its events are refused with 403 `no_entitlement`.',
    readBaselinePlan,
  ),
  ingestBacklogEventsMax: setting(
    'TOLLGATE_INGEST_BACKLOG_EVENTS_MAX',
    '2000000',
    'Maximum number of accepted events that may wait to be rated; beyond it ingest returns 503 `ingest_backlog_full`. One tenant may use three quarters of it.',
    integer(1_000, 1_000_000_000),
  ),
  webhookAllowPrivate: setting(
    'TOLLGATE_WEBHOOK_ALLOW_PRIVATE',
    '0',
    'With `1` webhooks may go to private, loopback and other internal addresses: for development, or where every tenant is trusted.',
    readFlag,
  ),
  paymentProvider: optional(
    'TOLLGATE_PAYMENT_PROVIDER',
    'Payment provider for plans: `stripe`, or `sandbox`, which takes no money and is for development and tests. If unset, no plan can be bought; `tollgate demo` uses the sandbox.',
    readPaymentProvider,
  ),
  stripeApiKey: secret(
    'TOLLGATE_STRIPE_API_KEY',
    'Secret or restricted API key of Stripe, `sk_…` or `rk_…`.',
    readApiKey,
  ),
  paymentWebhookSecrets: secret(
    'TOLLGATE_PAYMENT_WEBHOOK_SECRET',
    'Secret with which the payment provider signs its webhooks, `whsec_…`; several, separated by commas, while one replaces another. The sandbox needs none.',
    readSecrets,
  ),
  checkoutSuccessUrl: optional(
    'TOLLGATE_CHECKOUT_SUCCESS_URL',
    'Page to which buyers return after paying. The default of the sandbox is a page of its own.',
    urlOf('http:', 'https:'),
  ),
  checkoutCancelUrl: optional(
    'TOLLGATE_CHECKOUT_CANCEL_URL',
    'Page to which buyers return without paying. The default of the sandbox is a page of its own.',
    urlOf('http:', 'https:'),
  ),
  refundEndsPlan: setting(
    'TOLLGATE_REFUND_ENDS_PLAN',
    '0',
    'With `1` a subscription plan ends when its payment is fully refunded or disputed; with `0` refunds and disputes are only recorded and reported.',
    readFlag,
  ),
  publicUrl: optional(
    'TOLLGATE_PUBLIC_URL',
    'URL at which clients reach the service, for `servers` of the API description and for the pages of the sandbox; by default, the address on which it listens.',
    readPublicUrl,
  ),
  url: optional(
    'TOLLGATE_URL',
    'URL of the service for `tollgate prices import`; by default, `HOST` and `PORT`. `--url` takes precedence.',
    readServiceUrl,
  ),
  apiKey: secret(
    'TOLLGATE_API_KEY',
    'API key for `tollgate prices import`; `--api-key` takes precedence.',
    readApiKey,
  ),
  drainSeconds: setting(
    'TOLLGATE_DRAIN_SECONDS',
    '5',
    'Seconds for which a process with the api role still serves requests after SIGTERM, while `/readyz` returns 503, so that load balancers stop sending requests to it; 0 to 300. `0` stops at once, as SIGINT does. The stop itself takes up to 10 s more: supervisors must wait longer than both before they kill the process. [Guide](guides/rolling-restarts.md).',
    integer(0, 300),
  ),
  workers: optional(
    'TOLLGATE_WORKERS',
    'Number of rating threads and, if it is more than 1, of processes that accept events, 1 to 16; `--workers` takes precedence. If unset, half of the processor cores, at most 8 and at most one for each GiB of memory; 1 on machines with 1 or 2 cores.',
    readWorkers,
  ),
  shards: optional(
    'TOLLGATE_SHARDS',
    'Number of shards of the installation, 1 to 64. Set the same number for all processes, or change it with `tollgate shards`. If unset, the number stays as it is; a new installation gets 1 shard on 1 or 2 processor cores, and on more cores their number, rounded up to a power of two.',
    integer(1, SHARDS_MAX),
  ),
  keyRate: optional(
    'TOLLGATE_KEY_RATE',
    'Maximum number of requests per second that each process serves for one API key, 1 to 100000. A key that was silent may send those of a second at once; more get 429 `key_rate_exceeded` with `Retry-After`. If unset, keys have no such limit.',
    integer(1, 100_000),
  ),
  expressLane: setting(
    'TOLLGATE_EXPRESS_LANE',
    '1',
    "With `0` every request goes through Node's HTTP server of the main process; with `1` plain ingest requests are read from the socket, which is faster.",
    readFlag,
  ),
  databaseConnectionsMax: setting(
    'TOLLGATE_DATABASE_CONNECTIONS_MAX',
    '20',
    'Maximum number of PostgreSQL connections of the main process, of each rating thread and of each accepting process.',
    integer(5, 1_000),
  ),
};

type Settings = typeof SETTINGS;

/** The whole configuration of a process. */
export type Config = { readonly [Name in keyof Settings]: ReturnType<Settings[Name]['read']> } & {
  /** Unusual but harmless settings, one sentence each, to be logged. */
  readonly warnings: readonly string[];
};

/** Invalid configuration, one sentence for each variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/**
 * Reads the configuration; the only place of the service that reads environment variables, and files with secrets. The
 * SDK of OpenTelemetry reads more variables of its own, if there is a collector.
 * @throws ConfigError naming every invalid variable
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    try {
      values[name] = readSetting(setting, environment);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { ...values, warnings: unknownVariables(environment) } as unknown as Config;
}

/** Reads a list of roles, as in `--roles api,worker`. @throws Error "one or more of …" */
export function readRoles(text: string): readonly Role[] {
  const names = text.split(',').map((name) => name.trim());
  const known = names.every((name) => (ROLES as readonly string[]).includes(name));
  if (!known || new Set(names).size !== names.length) {
    throw new Error(`one or more of ${ROLES.join(', ')}, separated by commas`);
  }
  return names as Role[];
}

/** Returns the table of docs/configuration.md. */
export function configurationTable(): string {
  const rows = Object.values(SETTINGS).map(describeSetting);
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  const known = new Set(Object.values(SETTINGS).flatMap(variablesOf));
  return Object.keys(environment)
    .filter((name) => name.startsWith('TOLLGATE_') && !known.has(name))
    .sort()
    .map((name) => `The environment variable ${name} is not known and has no effect.`);
}
