import type { Config } from '../config.js';
import type { PassedConnection } from '../platform/http/index.js';
import type { MetricValues } from '../platform/metrics/index.js';
import type { PostgresConfig } from '../platform/postgres/index.js';
import type { LocalFolders } from './data-dir.js';

/** The data that accepting processes need to start. They go over the channel, because others can read environments. */
export interface AcceptingData {
  readonly config: Config;
  readonly postgresConnection: PostgresConfig['connection'];
  readonly folders: LocalFolders | undefined;
  readonly serviceKey: string;
  /** How many accepting processes the service has. */
  readonly processes: number;
  /** Upper bound of the connections of each. */
  readonly connectionsMax: number;
}

/** Messages from the service to an accepting process. */
export type ToAccepting =
  | {
      readonly kind: 'start';
      readonly data: AcceptingData;
      /** Number of the process, counted from 1. */
      readonly number: number;
      readonly applicationName: string;
    }
  /** A new connection. */
  | PassedConnection
  | { readonly kind: 'metrics' }
  /** From now on, each connection ends after its next response. */
  | { readonly kind: 'drain' }
  | { readonly kind: 'stop' };

/** Messages from an accepting process to the service. */
export type FromAccepting =
  | { readonly kind: 'ready' }
  /** Segments were appended. */
  | { readonly kind: 'appended' }
  /** A connection that carries something other than plain ingest requests. */
  | PassedConnection
  | { readonly kind: 'metrics'; readonly metrics: MetricValues };
