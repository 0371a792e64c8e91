import type { IncomingHttpHeaders } from 'node:http';
import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Agent, Dispatcher } from 'undici';
import type { CellPort, CellRoute } from '../../kernel/cells.js';
import { DomainError } from '../../kernel/errors.js';
import { KeyCounts } from '../../kernel/key-counts.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import { addressOf, addressOfSession } from './cell-address.js';
import { isConsoleRequest } from './console-requests.js';
import type { App } from './types.js';

/** Marks a forwarded request, which is never forwarded again. If a client sets it, its request just stays here. */
const FORWARDED_BY = 'x-tollgate-forwarded-by';
/** Marks the response of a cell that does not serve the tenant of a forwarded request. */
const NOT_HERE = 'x-tollgate-not-here';
const CONNECT_MS_MAX = 5_000;
/** Longer than a request may take to arrive, and longer than the pause between two pieces of a live response. */
const SILENCE_MS_MAX = 65_000;
/** Less than the time after which a cell closes an idle connection. */
const KEEP_ALIVE_MS = 10_000;
/** Upper bound of the requests that this process forwards at the same time; each takes a connection. */
export const FORWARDED_MAX = 256;
/** Fields that concern one connection, not the request (RFC 9110 section 7.6.1). */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Continues a request in this cell. */
type ServeHere = (refusal?: Error) => void;

interface Forward {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly route: CellRoute;
  /** The address by which the route was looked up; undefined for a new tenant. */
  readonly address: string | undefined;
  /** The client's IP address; it is kept because a closed connection no longer has it. */
  readonly source: string;
}

/**
 * Forwards requests for tenants of other cells, once. Only a request that this cell would refuse, or that names a
 * tenant and has the service key, is looked up. So requests with keys of this cell's tenants cost nothing and need no
 * directory.
 */
export class CellForwarding {
  readonly #cells: CellPort;
  readonly #agent: Agent;
  readonly #held = new KeyCounts();
  #heldInAll = 0;

  private constructor(cells: CellPort, agent: Agent) {
    this.#cells = cells;
    this.#agent = agent;
  }

  /**
   * Loads the HTTP client, which takes a tenth of a start: only services that are cells need it.
   *
   * @param app closes the connections to other cells when it closes
   */
  static async open(app: App, cells: CellPort): Promise<CellForwarding> {
    const { Agent } = await import('undici');
    const agent = new Agent({
      connections: FORWARDED_MAX,
      connectTimeout: CONNECT_MS_MAX,
      headersTimeout: SILENCE_MS_MAX,
      bodyTimeout: SILENCE_MS_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
    app.addHook('onClose', () => agent.close());
    return new CellForwarding(cells, agent);
  }

  /**
   * Forwards a public request whose handler has found nothing here. Returns false if this cell must respond to it.
   *
   * @param address as in `CellPort`; default: the one of the console session
   */
  async forwardPublic(
    request: FastifyRequest,
    reply: FastifyReply,
    address = addressOfSession(request),
  ): Promise<boolean> {
    if (address === undefined || request.headers[FORWARDED_BY] !== undefined) return false;
    const { ip: source } = request;
    const route = await this.#cells.routeOf(address, source);
    if (route === undefined || route.cell === this.#cells.name) return false;
    await this.#forward({ request, reply, route, address, source });
    return true;
  }

  /** Forwards the request, or calls `serveHere` with its refusal, if there is one. */
  decide(
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Error | undefined,
    serveHere: ServeHere,
  ): void {
    if (!isUndecided(request, refusal)) {
      serveHere(refusal);
      return;
    }
    this.#decide(request, reply, refusal).then(
      (decision) => {
        if (decision === undefined) return;
        serveHere(decision.refusal);
      },
      (error: Error) => serveHere(error),
    );
  }

  /** Decides whether a request is served here, with a refusal if there is one; undefined if it was forwarded. */
  async #decide(
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Error | undefined,
  ): Promise<{ refusal: Error | undefined } | undefined> {
    const { ip: source } = request;
    const refused = refusal ?? (await this.#refusalOfTenant(request));
    const isForwarded = request.headers[FORWARDED_BY] !== undefined;
    if (isForwarded) {
      if (refused !== undefined) reply.header(NOT_HERE, '1');
      return { refusal: refused };
    }
    const address = refused && addressOf(request);
    const route = await this.#routeOf(request, source, address, refused);
    if (route === undefined || route.cell === this.#cells.name) return { refusal: refused };
    await this.#forward({ request, reply, route, address, source });
    return undefined;
  }

  /** Refuses a request of the service key for a tenant that this cell does not serve, although it may have its rows. */
  async #refusalOfTenant(request: FastifyRequest): Promise<Error | undefined> {
    const { tenant_id: tenantId } = request.params as Partial<Record<string, string>>;
    if (tenantId === undefined || (await this.#cells.servesTenant(tenantId))) return undefined;
    return new DomainError('not_found');
  }

  async #routeOf(
    request: FastifyRequest,
    source: string,
    address: string | undefined,
    refused: Error | undefined,
  ): Promise<CellRoute | undefined> {
    if (address !== undefined) return this.#cells.routeOf(address, source);
    const makesTenant = request.routeOptions.config.makesTenant === true && !isConsoleRequest(request.raw);
    if (refused !== undefined || !makesTenant) return undefined;
    const cell = await this.#cells.cellForNewTenant();
    return cell && { ...cell, tenantId: '' };
  }

  async #forward(forward: Forward): Promise<void> {
    const { reply, route } = forward;
    if (this.#held.of(route.tenantId) >= tenantShare(this.#heldInAll, FORWARDED_MAX))
      throw new DomainError('server_busy');
    this.#held.add(route.tenantId, 1);
    this.#heldInAll += 1;
    reply.raw.once('close', () => this.#release(route.tenantId));
    const response = await this.#send(forward);
    if (response === undefined) return;
    if (response.headers[NOT_HERE] !== undefined) await this.#sendRefusal(forward, response);
    else respond(forward, response, response.body);
  }

  #release(tenantId: string): void {
    this.#held.add(tenantId, -1);
    this.#heldInAll -= 1;
  }

  /** Returns undefined if the client has left. */
  async #send({ request, reply, route, source }: Forward): Promise<Dispatcher.ResponseData | undefined> {
    const { origin, pathname } = new URL(route.url);
    const left = new AbortController();
    reply.raw.once('close', () => left.abort());
    try {
      return await this.#agent.request({
        origin,
        path: pathname.replace(/\/$/, '') + request.originalUrl,
        method: request.method as Dispatcher.HttpMethod,
        headers: { ...passedOn(request.headers), ...this.#ownFields(request, source) },
        body: request.rawBody ?? (hasBody(request) ? unreadBody(request) : null),
        signal: left.signal,
      });
    } catch (cause) {
      if (left.signal.aborted || request.raw.socket.destroyed) return undefined;
      throw new DomainError('cell_unavailable', { cause });
    }
  }

  #ownFields(request: FastifyRequest, source: string): Record<string, string> {
    const before = request.headers['x-forwarded-for'];
    return {
      'x-request-id': request.id,
      'x-forwarded-for': before === undefined ? source : `${String(before)}, ${source}`,
      [FORWARDED_BY]: this.#cells.name,
      ...(request.span && { traceparent: request.span.traceparent }),
    };
  }

  /**
   * Passes a refusal on if the tenant is still in that cell according to the directory: then the key is revoked, or the
   * project does not exist. If not, the look-up was stale, and the client is asked to try again.
   */
  async #sendRefusal(forward: Forward, response: Dispatcher.ResponseData): Promise<void> {
    const { route, address, source } = forward;
    const text = await response.body.text();
    const again = address === undefined ? undefined : await this.#cells.routeAgain(address, source);
    if (again !== undefined && again.cell !== route.cell) throw new DomainError('tenant_moving');
    respond(forward, response, text);
  }
}

/**
 * Returns whether another cell may serve the request: its key is unknown here; or it has the service key and names a
 * tenant or a project that is not here, or creates a tenant.
 */
function isUndecided(request: FastifyRequest, refusal: Error | undefined): boolean {
  const code = refusal instanceof DomainError ? refusal.code : undefined;
  if (request.boundPrincipal === undefined) return code === 'unauthenticated';
  return request.boundPrincipal.kind === 'service' && (refusal === undefined || code === 'not_found');
}

function hasBody({ method, headers }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Returns the body, which is streamed; the other cell checks its size. */
function unreadBody({ raw }: FastifyRequest): PassThrough {
  // The stream ends with an early response. The end of `raw` itself would end the connection before the response.
  const body = new PassThrough();
  body.once('close', () => raw.resume());
  return raw.pipe(body);
}

function respond(
  { request, reply }: Forward,
  { statusCode, headers }: Dispatcher.ResponseData,
  body: Dispatcher.ResponseData['body'] | string,
): void {
  for (const [name, value] of Object.entries(passedOn(headers))) {
    if (name !== NOT_HERE) reply.header(name, value);
  }
  // The rest of the request's body would be read as the next request.
  if (!request.raw.complete) reply.header('connection', 'close');
  reply.code(statusCode).send(body);
}

/** Returns the header fields that are meant for the other side, not for one connection. */
function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const ofConnection = String(headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !CONNECTION_FIELDS.has(name) && !ofConnection.includes(name))
      kept[name] = value;
  }
  return kept;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined for a service that is not a cell. */
    cellForwarding: CellForwarding | undefined;
  }

  interface FastifyContextConfig {
    /** Whether the route creates a tenant; the directory chooses its cell. */
    makesTenant?: boolean;
  }
}
