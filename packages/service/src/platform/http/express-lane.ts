import type {
  IncomingHttpHeaders,
  IncomingMessage,
  RequestListener,
  Server,
  ServerResponse,
} from 'node:http';
import type { RouteOptions } from 'fastify';
import { type AccessPorts, accessOf, projectAtOnce } from './access.js';
import type { BodyBudget } from './body-budget.js';
import { type LaneRoute, Passage, type PassagePorts } from './express-passage.js';
import type { FailureLog } from './failure-log.js';
import type { Readiness } from './readiness.js';
import type { ObserveRequest } from './requests.js';
import { PATH_PARAMETER_CHARS_MAX } from './routing.js';
import { bodyCheck } from './validation.js';

const JSON_IN_UTF8 = /^application\/json(?:; ?charset=utf-8)?$/i;

export interface ExpressLaneOptions extends AccessPorts {
  readonly readiness: Pick<Readiness, 'shuttingDown'>;
  readonly budget: BodyBudget;
  readonly failures: FailureLog;
  readonly requestId: (request: IncomingMessage) => string;
}

/**
 * Serves the plain requests of a few routes before Fastify sees them, because what Fastify does for each request costs more than
 * accepting an event. It answers only what it let in, read whole and found valid; all else, Fastify is given as if
 * nobody had looked at it.
 */
export class ExpressLane {
  private readonly routes: LaneRoute[] = [];
  private isOpen = false;

  constructor(private readonly options: ExpressLaneOptions) {}

  /** Serves a route that `registerExpressRoute` has registered. @throws Error for one that it cannot serve */
  add(route: RouteOptions, observe: ObserveRequest): void {
    const { url, bodyLimit, config, schema } = route;
    const access = accessOf(route);
    const isServed = route.method === 'POST' && access.kind === 'project' && bodyLimit !== undefined;
    if (!isServed || config?.express === undefined || schema?.body === undefined) {
      throw new Error(`Route ${String(route.method)} ${url} is none for the express lane`);
    }
    this.routes.push({
      url,
      ...plainPath(url),
      permission: access.permission,
      bodyLimit,
      arbitraryText: config.arbitraryText === true,
      unread: config.arbitraryText === true ? config.unread : undefined,
      isValid: bodyCheck(schema.body as object),
      operation: config.express,
      observe,
    });
  }

  /** Puts the lane between the server and its listener. */
  open(server: Server): void {
    const [fastify] = server.listeners('request') as RequestListener[];
    if (fastify === undefined) throw new Error('a server that nobody listens to');
    const ports: PassagePorts = { ...this.options, handBack: fastify };
    server.off('request', fastify);
    server.on('request', (request, response) => {
      if (!this.takes(request, response, ports)) fastify(request, response);
    });
    this.isOpen = true;
  }

  /** What comes from now on is Fastify's. */
  close(): void {
    this.isOpen = false;
  }

  /** Whether the lane serves the request. If not, nothing of its body was read. */
  private takes(request: IncomingMessage, response: ServerResponse, ports: PassagePorts): boolean {
    if (request.method !== 'POST' || !this.isOpen || this.options.readiness.shuttingDown) return false;
    const bodyBytes = plainBodyBytes(request.headers);
    if (bodyBytes === undefined) return false;
    for (const route of this.routes) {
      const ids = route.path.exec(request.url ?? '');
      if (ids === null) continue;
      if (bodyBytes > route.bodyLimit) return false;
      const params = namedIds(route.names, ids);
      const { authorization } = request.headers;
      const project = projectAtOnce(this.options, route.permission, authorization, params.project_id ?? '');
      if (project === undefined) return false;
      new Passage(ports, route, { request, response, bodyBytes, project, params }).begin();
      return true;
    }
    return false;
  }
}

/** The length of a body that needs nothing but to be read; undefined for any other. */
function plainBodyBytes(headers: IncomingHttpHeaders): number | undefined {
  if (!JSON_IN_UTF8.test(headers['content-type'] ?? '')) return undefined;
  if (headers['content-encoding'] !== undefined || headers['transfer-encoding'] !== undefined)
    return undefined;
  if (headers.expect !== undefined || headers.upgrade !== undefined) return undefined;
  const bytes = Number(headers['content-length']);
  return bytes > 0 ? bytes : undefined;
}

/** Matches the paths of a route whose ids need no decoding, and no query string. */
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
