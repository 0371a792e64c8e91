import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Permission } from '@tollgate/contract';
import type { RouteOptions } from 'fastify';
import { whenReady } from '../../../kernel/maybe-promise.js';
import { type AccessPorts, accessOf, projectFor } from '../access.js';
import type { BodyBudget } from '../body-budget.js';
import type { FailureLog } from '../failure-log.js';
import type { Readiness } from '../readiness.js';
import type { ObserveRequest } from '../requests.js';
import { PATH_PARAMETER_CHARS_MAX } from '../routing.js';
import { LaneConnection } from './connection.js';
import type { LanePorts, OpenConnection } from './lane-ports.js';
import type { PlainHead, PlainMethod } from './request-head.js';
import { SpacedWork } from './spaced-work.js';
import { bodyReader, keyCheck, type LaneRoute, noInput, queryReader } from './work.js';

const PATIENCE_MS = 5_000;

export interface ExpressLaneOptions extends AccessPorts {
  readonly readiness: Pick<Readiness, 'draining' | 'shuttingDown'>;
  readonly budget: BodyBudget;
  readonly begun: LanePorts['begun'];
  readonly answered: LanePorts['answered'];
  readonly failures: FailureLog;
  readonly requestId: LanePorts['requestId'];
  readonly tracing: LanePorts['tracing'];
  /** See `LanePorts`; default 5 s. */
  readonly patienceMs: number | undefined;
}

interface PathRoute extends LaneRoute {
  /** Matches the route's paths, with one group for each name. */
  readonly path: RegExp;
  readonly names: readonly string[];
  readonly permission: Permission | readonly Permission[];
}

/**
 * Serves the plain requests of a few routes before Node's HTTP parser and Fastify see them, because their work for each
 * request costs more than accepting an event. It serves only requests that it has admitted, read whole and found
 * valid. All others go to Node, as if nobody had read them.
 */
export class ExpressLane {
  readonly #options: ExpressLaneOptions;
  readonly #routes: PathRoute[] = [];
  readonly #connections = new Set<OpenConnection>();
  #ports: LanePorts | undefined;
  #isOpen = false;

  constructor(options: ExpressLaneOptions) {
    this.#options = options;
  }

  /**
   * Serves a route that `registerExpressRoute` has registered.
   *
   * @throws Error for a route that it cannot serve
   */
  add(route: RouteOptions, observe: ObserveRequest): void {
    const { method, url, bodyLimit, config } = route;
    const access = accessOf(route);
    const readInput = inputReader(route);
    if (access.kind !== 'project' || config?.express === undefined || readInput === undefined) {
      throw new Error(`Route ${String(method)} ${url} cannot use the express lane`);
    }
    this.#routes.push({
      method: method as PlainMethod,
      url,
      ...plainPath(url),
      permission: access.permission,
      bodyLimit: route.schema?.body === undefined ? 0 : (bodyLimit ?? 0),
      readInput,
      isKeyValid: keyCheck(route.schema?.headers as object | undefined),
      operation: config.express,
      observe,
    });
  }

  /**
   * Opens the lane; `serve` it connections from now on.
   *
   * @param handOver takes connections that carry anything but plain requests
   */
  open({ keepAliveTimeout }: Server, handOver: (socket: Socket) => void): void {
    this.#ports = {
      ...this.#options,
      admit: (head) => this.#admit(head),
      handOver,
      isClosed: () => !this.#isOpen || this.#options.readiness.shuttingDown,
      isDraining: () => !this.#isOpen || this.#options.readiness.draining,
      patienceMs: this.#options.patienceMs ?? PATIENCE_MS,
      keepAliveMs: keepAliveTimeout,
      largeBodies: new SpacedWork(),
      left: (connection) => this.#connections.delete(connection),
    };
    this.#isOpen = true;
  }

  serve(socket: Socket): void {
    if (this.#ports === undefined) throw new Error('the lane is not open yet');
    this.#connections.add(new LaneConnection(socket, this.#ports));
  }

  /** Hands new connections over; open ones are closed after their current request. */
  close(): void {
    this.#isOpen = false;
    for (const connection of this.#connections) connection.close();
  }

  /** Closes all connections at once. */
  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Returns the route and the project of a request, if its caller has access. */
  #admit({ method, path, authorization, bodyBytes }: PlainHead): ReturnType<LanePorts['admit']> {
    for (const route of this.#routes) {
      if (route.method !== method) continue;
      const ids = route.path.exec(path);
      if (ids === null) continue;
      const isWithBody = route.bodyLimit > 0;
      if (bodyBytes > route.bodyLimit || (isWithBody && bodyBytes === 0)) return undefined;
      const params = namedIds(route.names, ids);
      const found = projectFor(this.#options, route.permission, authorization, params.project_id ?? '');
      return whenReady(found, (project) => project && { route, project, params });
    }
    return undefined;
  }
}

/** Returns how the input of a route is read; undefined for a route that the lane cannot serve. */
function inputReader({ method, config, schema }: RouteOptions): LaneRoute['readInput'] | undefined {
  if (method === 'POST' && schema?.body !== undefined) return bodyReader(schema.body as object, config);
  if (method === 'POST' && schema?.querystring === undefined) return noInput;
  if (method === 'GET' && schema?.querystring !== undefined) return queryReader(schema.querystring as object);
  return undefined;
}

/** Matches the paths of a route: ids that need no decoding, and no query string. */
function plainPath(url: string): { path: RegExp; names: string[] } {
  const names: string[] = [];
  const pattern = url.replaceAll(/:([A-Za-z_]+)/g, (_, name: string) => {
    names.push(name);
    return `([A-Za-z0-9_-]{1,${PATH_PARAMETER_CHARS_MAX}})`;
  });
  return { path: new RegExp(`^${pattern}$`), names };
}

function namedIds(names: readonly string[], match: RegExpExecArray): Record<string, string> {
  const ids: Record<string, string> = {};
  for (let index = 0; index < names.length; index += 1)
    ids[names[index] as string] = match[index + 1] as string;
  return ids;
}
