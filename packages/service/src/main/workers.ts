import { availableParallelism, totalmem } from 'node:os';
import type { Config } from '../config.js';

const WORKERS_MAX = 8;
/** Memory of a rating thread and an accepting process together, under load. */
const WORKER_BYTES = 1_024 ** 3;

/** Connections of rules threads, and of people and tools that look at the database. */
const OTHER_CONNECTIONS = 16;
/** PostgreSQL's default. */
const CONNECTIONS_MIN = 100;

/** Returns the number of rating threads. If it is more than one, it is also the number of accepting processes. */
export function workersOf({ workers }: Pick<Config, 'workers'>): number {
  return workers ?? workersFor(availableParallelism(), totalmem());
}

/** Returns the default on a machine with this many processor cores and bytes of memory. */
export function workersFor(cores: number, bytes: number): number {
  if (cores <= 2) return 1;
  return Math.max(1, Math.min(WORKERS_MAX, Math.floor(cores / 2), Math.floor(bytes / WORKER_BYTES)));
}

/** Returns the number of processes that only accept events; if it is 0, the main thread accepts them. */
export function acceptingProcessesOf(config: Pick<Config, 'workers' | 'roles' | 'expressLane'>): number {
  const workers = workersOf(config);
  return workers > 1 && config.roles.includes('api') && config.expressLane ? workers : 0;
}

/** Returns the number of rating threads. */
export function ratingThreadsOf(config: Pick<Config, 'workers' | 'roles'>): number {
  return config.roles.includes('worker') ? workersOf(config) : 0;
}

/** Returns how many connections the embedded PostgreSQL must allow. */
export function databaseConnectionsOf(
  config: Pick<Config, 'workers' | 'roles' | 'expressLane' | 'databaseConnectionsMax'>,
): number {
  const pools = 1 + ratingThreadsOf(config) + acceptingProcessesOf(config);
  return Math.max(CONNECTIONS_MIN, pools * config.databaseConnectionsMax + OTHER_CONNECTIONS);
}
