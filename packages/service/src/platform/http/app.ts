import { SINGLE_BODY_BYTES_MAX } from '@tollgate/contract';
import {
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify,
  LogController,
  type onRequestHookHandler,
  type preValidationHookHandler,
} from 'fastify';
import type { CellPort } from '../../kernel/cells.js';
import { DomainError } from '../../kernel/errors.js';
import type { Logger } from '../log/index.js';
import type { Metrics } from '../metrics/index.js';
import type { Tracing } from '../tracing/index.js';
import { type AccessPorts, accessHook, accessOf, decorateAccess, recheck } from './access.js';
import { installBodyParser, refusalOfBody, refuseFields } from './body.js';
import { BODIES_BYTES_MAX, BodyBudget } from './body-budget.js';
import { CellForwarding } from './cell-forwarding.js';
import { ConnectionLimit } from './connection-limit.js';
import { type ConnectionRoutes, routeConnections } from './connection-routes.js';
import { routedUrl } from './console-requests.js';
import { ExpressLane } from './express-lane/express-lane.js';
import { FailureLog } from './failure-log.js';
import { answerUnparsable, NO_SNIFFING, refuseExpectation, sendError } from './failures.js';
import { refusalOfHead } from './head-check.js';
import { installOpenApi } from './openapi.js';
import { registerOperationRoutes } from './operation-routes.js';
import { parseQuery } from './query-text.js';
import { Readiness } from './readiness.js';
import { type ObserveRequest, RequestObserver, requestIds, traceRoute } from './requests.js';
import { responseChecker, serializeResponse } from './response.js';
import { completeSchema } from './route-schema.js';
import { PATH_PARAMETER_CHARS_MAX, RouteTable } from './routing.js';
import type { App } from './types.js';
import { atTurn, hasTurn } from './unread-responses.js';
import { validatorCompiler } from './validation.js';

/** Timeout of a request's head and body together. */
const REQUEST_MS_MAX = 60_000;
const HEADERS_MS_MAX = 15_000;
const KEEP_ALIVE_MS = 72_000;
const HEADER_BYTES_MAX = 16_384;

export interface AppOptions extends AccessPorts, ConnectionRoutes {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly readiness?: Readiness;
  /** Records a trace of each request, if it is sampled; default none. */
  readonly tracing?: Tracing | undefined;
  /** Version of the product, shown in the API description. */
  readonly version?: string;
  /** The URL of the service in the API description; default: the URL from which the description is read. */
  readonly publicUrl?: string | undefined;
  /** Upper bound of the bytes of bodies in memory; default BODIES_BYTES_MAX. */
  readonly bodiesBytesMax?: number;
  /** Upper bound of the open HTTP connections; default any number. */
  readonly connectionsMax?: number;
  /** The other cells, to which requests for their tenants are forwarded; default none. */
  readonly cells?: CellPort | undefined;
  /** Returns the text of `/metrics`; default: that of `metrics`. */
  readonly metricsText?: (() => Promise<string>) | undefined;
  /** For tests: how long the express lane waits for a whole request. */
  readonly lanePatienceMs?: number;
  /** For tests: a response that differs from its documented schema becomes a 500. */
  readonly checkResponses?: boolean;
}

/**
 * Creates the HTTP application without any module's routes: bodies, validation, access, errors, metrics, documentation.
 * Register routes on it before it listens; each must declare `config.access`.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const readiness = options.readiness ?? new Readiness();
  const failures = new FailureLog(options.log);
  const requestId = requestIds();
  const app = bareApp(options, failures, requestId);
  const routes = new RouteTable(app);
  app.decorate('routeTable', routes);
  decorateAccess(app);
  app.decorateRequest('span', undefined);
  app.decorate('isStillAllowed', recheck(options));
  installBodyParser(app);
  const budget = new BodyBudget(options.bodiesBytesMax ?? BODIES_BYTES_MAX);
  const connections = new ConnectionLimit({ connectionsMax: Number.POSITIVE_INFINITY, ...options });
  const lane = new ExpressLane({
    ...options,
    readiness,
    budget,
    begun: connections.begun,
    answered: connections.answered,
    failures,
    requestId,
    tracing: options.tracing,
    patienceMs: options.lanePatienceMs,
  });
  connections.guard(app.server);
  const forwarding = options.cells && (await CellForwarding.open(app, options.cells));
  app.decorate('cellForwarding', forwarding);
  guardRoutes(app, options, { readiness, budget, lane, connections, forwarding });
  app.server.on('checkExpectation', (request, response) => refuseExpectation(request, response, requestId));
  routeConnections(app, options, lane, connections);
  app.addHook('preClose', async () => lane.close());
  app.decorate('cutConnections', () => {
    lane.cut();
    app.server.closeAllConnections();
    // Those on their way to another process, too: the end waits for all of them.
    connections.cut();
  });
  app.setErrorHandler((error, request, reply) => sendError(failures, error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    reply.header('x-request-id', request.id).header(...NO_SNIFFING);
    if (readiness.draining) reply.header('connection', 'close');
    const refusal = refusalOfHead(request.raw);
    if (refusal !== undefined) throw refusal;
    const methods = routes.methodsAt(request.url);
    if (methods.length === 0) throw new DomainError('not_found');
    reply.header('allow', [...methods, 'OPTIONS'].join(', '));
    if (request.method !== 'OPTIONS') throw new DomainError('method_not_allowed');
    reply.code(204).send();
  });
  installOpenApi(app, { version: options.version ?? '0.0.0', publicUrl: options.publicUrl });
  registerOperationRoutes(app, { readiness, ...options });
  return app;
}

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>;

/** Returns what reads and writes by schemas. Fastify would load its own first, which takes 20 ms. */
function ownCompilers(checkResponses: boolean): SchemaController {
  const buildSerializer = () => (checkResponses ? responseChecker : () => serializeResponse);
  return {
    compilersFactory: { buildValidator: () => validatorCompiler, buildSerializer },
  } as unknown as SchemaController;
}

function bareApp(
  { log, checkResponses }: AppOptions,
  failures: FailureLog,
  requestId: ReturnType<typeof requestIds>,
): App {
  return fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request costs more than the request's own work; entries contain the request id themselves.
    childLoggerFactory: (parent) => parent,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    rewriteUrl: routedUrl,
    requestIdHeader: false,
    bodyLimit: SINGLE_BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    // A hook of this service responds to requests that arrive during shutdown.
    return503OnClosing: false,
    schemaController: ownCompilers(checkResponses === true),
    routerOptions: { maxParamLength: PATH_PARAMETER_CHARS_MAX, querystringParser: parseQuery },
    // A missing Host is refused by a check of this service, in the form of every other error.
    http: { maxHeaderSize: HEADER_BYTES_MAX, headersTimeout: HEADERS_MS_MAX, requireHostHeader: false },
    clientErrorHandler: answerUnparsable,
    frameworkErrors: (error, request, reply) => sendError(failures, error, request, reply),
  }) as unknown as App;
}

interface Guards {
  readonly readiness: Readiness;
  readonly budget: BodyBudget;
  readonly lane: ExpressLane;
  readonly connections: ConnectionLimit;
  /** Undefined for a service that is not a cell. */
  readonly forwarding: CellForwarding | undefined;
}

/**
 * Adds the hooks of each route. They are merged into one per phase and bound to their route, because Fastify's way of
 * finding the route of a request builds an object each time.
 */
function guardRoutes(app: App, options: AppOptions, guards: Guards): void {
  const { readiness, budget, lane, connections, forwarding } = guards;
  const observer = new RequestObserver(options.metrics, options.log);
  app.addHook('onRoute', (route) => {
    const access = accessOf(route);
    completeSchema(route, access);
    const checkAccess = accessHook(access, options);
    const arbitraryText = route.config?.arbitraryText === true;
    const isPublic = access.kind === 'public';
    const hasBody = route.schema?.body !== undefined;
    const begin: onRequestHookHandler = (request, reply, done) => {
      reply.header('x-request-id', request.id).header(...NO_SNIFFING);
      request.arbitraryText = arbitraryText;
      const refusal = refusalOfHead(request.raw);
      if (refusal !== undefined) {
        done(refusal);
        return;
      }
      const isSurplus = connections.isSurplus(request.raw.socket);
      if (isSurplus || readiness.draining) reply.header('connection', 'close');
      if (!isPublic && (readiness.shuttingDown || isSurplus)) {
        done(new DomainError(readiness.shuttingDown ? 'shutting_down' : 'server_busy'));
        return;
      }
      const serveHere = (refusal?: Error) => done(refusal ?? refusalOfBody(request));
      if (forwarding === undefined) checkAccess(request, serveHere);
      else checkAccess(request, (refusal) => forwarding.decide(request, reply, refusal, serveHere));
    };
    const guard: onRequestHookHandler = function (request, reply, done) {
      if (hasTurn(reply.raw)) begin.call(this, request, reply, done);
      else atTurn(reply.raw, () => begin.call(this, request, reply, done));
    };
    route.onRequest = [guard, ...[route.onRequest ?? []].flat()];
    if (hasBody) route.preParsing = [budget.hook, ...[route.preParsing ?? []].flat()];
    const validate = hasBody ? undefined : refuseFields;
    route.preValidation = [beginHook(connections, validate), ...[route.preValidation ?? []].flat()];
    const observe = observer.ofRoute(String(route.method), route.url);
    const isLong = route.config?.isLong === true;
    const ended = endHook(connections, isLong ? undefined : observe);
    route.onResponse = [ended, ...[route.onResponse ?? []].flat()];
    if (!isLong && options.tracing !== undefined) traceRoute(route, options.tracing);
    if (route.config?.express !== undefined && route.method !== 'HEAD') lane.add(route, observe);
  });
  const observeUnrouted = endHook(connections, observer.ofRoute('any', 'none'));
  app.addHook('onResponse', (request, reply, done) => {
    if (request.is404) observeUnrouted(request, reply, done);
    else done();
  });
}

/** Notes that a request has arrived whole: its client waits for the service now. */
function beginHook(
  { begun }: ConnectionLimit,
  next: preValidationHookHandler | undefined,
): preValidationHookHandler {
  return function (request, reply, done) {
    begun(request.raw.socket);
    if (next === undefined) done();
    else next.call(this, request, reply, done);
  };
}

/** Notes that the client has its response: the connection waits for the client again. */
function endHook({ answered }: ConnectionLimit, observe: ObserveRequest | undefined) {
  return ({ id, raw }: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    answered(raw.socket);
    observe?.(id, reply.statusCode, reply.elapsedTime);
    done();
  };
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every registered route. */
    routeTable: RouteTable;
    /** Closes every connection, also those with a request in progress. */
    cutConnections(): void;
    /** Checks again, during a long response, that the key is still valid and still has the permission of the route. */
    isStillAllowed: (request: FastifyRequest) => Promise<boolean>;
  }
}
