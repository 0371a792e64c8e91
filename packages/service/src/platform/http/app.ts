import { SINGLE_BODY_BYTES_MAX } from '@tollgate/contract';
import { fastify, LogController } from 'fastify';
import type { Logger } from '../log/index.js';
import type { Metrics } from '../metrics/index.js';
import { type AccessPorts, accessHook, accessOf, decorateAccess } from './access.js';
import { installBodyParser, refuseUnreadableBody } from './body.js';
import { recordDurations } from './durations.js';
import { ApiError } from './errors.js';
import { answerUnparsable, sendError } from './failures.js';
import { installOpenApi } from './openapi.js';
import { registerOperationRoutes } from './operation-routes.js';
import { Readiness } from './readiness.js';
import { requestIds } from './request-id.js';
import { responseChecker, serializeResponse } from './responses.js';
import { completeSchema } from './route-schema.js';
import { RouteTable } from './routing.js';
import type { App } from './types.js';
import { validatorCompiler } from './validation.js';

/** A request, head and body, must have arrived within this time. */
export const REQUEST_MS_MAX = 60_000;
export const HEADERS_MS_MAX = 15_000;
export const KEEP_ALIVE_MS = 72_000;
export const HEADER_BYTES_MAX = 16_384;
/** Longest value of a path parameter; nothing that has an id is longer. */
export const PATH_PARAMETER_CHARS_MAX = 512;

export interface AppOptions extends AccessPorts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly readiness?: Readiness;
  /** Version of the product, shown in the API description. */
  readonly version?: string;
  /** For tests: an answer that differs from its documented schema becomes a 500. */
  readonly checkResponses?: boolean;
}

/**
 * The HTTP application without any module's routes: bodies, validation, access, errors, metrics, documentation.
 * Register routes on it before it listens; each must declare `config.access`.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const readiness = options.readiness ?? new Readiness();
  const app = bareApp(options);
  const routes = new RouteTable(app);
  app.decorate('routeTable', routes);
  decorateAccess(app);
  installBodyParser(app);
  app.setValidatorCompiler(validatorCompiler as Parameters<App['setValidatorCompiler']>[0]);
  app.setSerializerCompiler(options.checkResponses === true ? responseChecker : () => serializeResponse);
  guardRoutes(app, options, readiness);
  recordDurations(app, options.metrics);
  app.setErrorHandler((error, request, reply) => sendError(options.log, error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const methods = routes.methodsAt(request.url);
    if (methods.length === 0) throw new ApiError('not_found');
    reply.header('allow', [...methods, 'OPTIONS'].join(', '));
    if (request.method !== 'OPTIONS') throw new ApiError('method_not_allowed');
    reply.code(204).send();
  });
  await installOpenApi(app, options.version ?? '0.0.0');
  registerOperationRoutes(app, { readiness, metrics: options.metrics, log: options.log });
  return app;
}

function bareApp({ log }: AppOptions): App {
  return fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request costs more than the request's own work; entries name the request id themselves.
    childLoggerFactory: (parent) => parent,
    genReqId: requestIds(),
    requestIdHeader: false,
    bodyLimit: SINGLE_BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    // Requests that arrive during shutdown are answered by our own hook.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PATH_PARAMETER_CHARS_MAX },
    http: { maxHeaderSize: HEADER_BYTES_MAX, headersTimeout: HEADERS_MS_MAX },
    clientErrorHandler: answerUnparsable,
    frameworkErrors: (error, request, reply) => sendError(log, error, request, reply),
  }) as unknown as App;
}

/** The hooks of every request, and those that each route's own declaration adds. */
function guardRoutes(app: App, ports: AccessPorts, readiness: Readiness): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onRoute', (route) => {
    const access = accessOf(route);
    completeSchema(route, access);
    const guards = [accessHook(access, ports), refuseUnreadableBody];
    if (access.kind !== 'public') guards.unshift(refuseDuringShutdown(readiness));
    route.onRequest = [...guards, ...[route.onRequest ?? []].flat()];
  });
}

function refuseDuringShutdown(readiness: Readiness) {
  return (
    _request: unknown,
    reply: { header(name: string, value: string): unknown },
    done: (error?: Error) => void,
  ) => {
    if (!readiness.shuttingDown) {
      done();
      return;
    }
    reply.header('connection', 'close');
    done(new ApiError('shutting_down'));
  };
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every registered route. */
    routeTable: RouteTable;
  }
}
