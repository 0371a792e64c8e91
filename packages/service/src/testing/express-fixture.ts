import type { Socket } from 'node:net';
import { OptionalIdempotencyKeyHeaders } from '@tollgate/contract';
import { Type } from 'typebox';
import type { Authenticator } from '../kernel/principal.js';
import type { ProjectRef } from '../kernel/scope.js';
import {
  type App,
  createApp,
  type ExpressRequest,
  type KeyRates,
  Readiness,
  registerExpressRoute,
} from '../platform/http/index.js';
import { createLog } from '../platform/log/index.js';
import { createMetrics, type Metrics } from '../platform/metrics/index.js';
import { type BothWays, listenBothWays, postBytes, sameAnswer, type WireAnswer } from './both-ways.js';

const PROJECT: ProjectRef = {
  tenantId: 'ten_1',
  projectId: 'prj_1',
  projectNo: 1,
  kind: 'release',
  storage: 'shared',
};
/** A project of another tenant. */
const OTHER_PROJECT: ProjectRef = { ...PROJECT, tenantId: 'ten_2', projectId: 'prj_9', projectNo: 9 };
const PARAMS = Type.Object({ project_id: Type.String(), id: Type.String() });
const HEADERS = { authorization: 'Bearer service', 'content-type': 'application/json' };

interface FixtureOptions {
  readonly expressLane?: boolean;
  readonly patienceMs?: number;
  readonly keepAliveMs?: number;
  readonly keyRates?: KeyRates;
}

/** An application with POSTs and a GET that the express lane serves, without any store; it listens both ways. */
export class ExpressFixture {
  static readonly PATH = '/v1/projects/prj_1/meters/m-1/readings';
  /** The same path in the project of another tenant. */
  static readonly OTHER_PATH = '/v1/projects/prj_9/meters/m-1/readings';
  /** The path of the GET. */
  static readonly READ_PATH = '/v1/projects/prj_1/meters/m-1';
  /** The path of a POST that creates something, and takes an `Idempotency-Key`. */
  static readonly SEAL_PATH = '/v1/projects/prj_1/meters/m-1/seals';
  /** The path of a POST without a body. */
  static readonly RESET_PATH = '/v1/projects/prj_1/meters/m-1/reset';
  static readonly BODY_LIMIT = 20_000;
  static readonly BODIES_BYTES_MAX = 60_000;
  static readonly GOOD = '{"reading":1}';

  readonly readiness = new Readiness();
  readonly metrics: Metrics = createMetrics();
  /** The requests that the operation was called with. */
  readonly answered: ExpressRequest[] = [];
  app!: App;
  ways!: BothWays;
  /** Number of requests that Fastify got. */
  seenByFastify = 0;
  /** Requests that the operation refuses before parsing. */
  precheck: () => void = () => {};
  /** The operation of the POSTs. */
  answer: () => Promise<string> = async () => '{"taken":true}';
  /** The operation of the GET; returns its query. */
  read: (request: ExpressRequest) => Promise<object> = async ({ input }) => ({ asked: input });
  /** Returns the principal of the key `service`. */
  authenticate: () => ReturnType<Authenticator['authenticate']> = () => ({ kind: 'service' });

  static async start({
    patienceMs,
    keepAliveMs,
    keyRates,
    expressLane = true,
  }: FixtureOptions = {}): Promise<ExpressFixture> {
    const fixture = new ExpressFixture();
    const app = await createApp({
      log: createLog({ level: 'silent' }),
      metrics: fixture.metrics,
      readiness: fixture.readiness,
      expressLane,
      keyRates,
      bodiesBytesMax: ExpressFixture.BODIES_BYTES_MAX,
      ...(patienceMs === undefined ? {} : { lanePatienceMs: patienceMs }),
      authenticator: {
        authenticate: (token) => (token === 'service' ? fixture.authenticate() : undefined),
      },
      projects: {
        resolveProject: (id) => [PROJECT, OTHER_PROJECT].find(({ projectId }) => projectId === id),
      },
    });
    app.addHook('onRequest', (_request, _reply, done) => {
      fixture.seenByFastify += 1;
      done();
    });
    fixture.#registerPosts(app);
    fixture.#registerGet(app);
    if (keepAliveMs !== undefined) app.server.keepAliveTimeout = keepAliveMs;
    fixture.app = app;
    fixture.ways = await listenBothWays(app);
    return fixture;
  }

  #registerPosts(app: App): void {
    const config = { access: { kind: 'project', permission: 'usage:ingest' }, arbitraryText: true } as const;
    const body = Type.Object({ reading: Type.Unknown() }, { additionalProperties: false });
    const bodyLimit = ExpressFixture.BODY_LIMIT;
    registerExpressRoute(app, {
      method: 'POST',
      status: 202,
      url: '/v1/projects/:project_id/meters/:id/readings',
      config,
      bodyLimit,
      schema: { hide: true, params: PARAMS, body },
      precheck: () => this.precheck(),
      answer: (request) => this.#take(request),
    });
    registerExpressRoute(app, {
      method: 'POST',
      status: 201,
      url: '/v1/projects/:project_id/meters/:id/seals',
      config,
      bodyLimit,
      schema: { hide: true, params: PARAMS, headers: OptionalIdempotencyKeyHeaders, body },
      answer: (request) => this.#take(request),
    });
    registerExpressRoute(app, {
      method: 'POST',
      status: 200,
      url: '/v1/projects/:project_id/meters/:id/reset',
      config,
      schema: { hide: true, params: PARAMS },
      answer: (request) => this.#take(request),
    });
  }

  #registerGet(app: App): void {
    registerExpressRoute(app, {
      method: 'GET',
      url: '/v1/projects/:project_id/meters/:id',
      config: { access: { kind: 'project', permission: 'usage:read' } },
      schema: {
        hide: true,
        params: PARAMS,
        querystring: Type.Object(
          { unit: Type.String({ minLength: 1 }), at: Type.Optional(Type.Integer()) },
          { additionalProperties: false },
        ),
      },
      status: 200,
      answer: (request) => {
        this.answered.push(request);
        return this.read(request);
      },
    });
  }

  #take(request: ExpressRequest): Promise<string> {
    this.answered.push(request);
    return this.answer();
  }

  /** Delays the operation until the returned function is called. */
  holdAnswer(): () => void {
    let release = () => {};
    const held = new Promise<string>((resolve) => {
      release = () => resolve('{"held":true}');
    });
    this.answer = () => held;
    return () => release();
  }

  /** Delays the look-up of the key until `release` is called. */
  holdLookUp(): { release(): void; readonly isAsked: boolean } {
    let release = () => {};
    const held = new Promise<{ kind: 'service' }>((resolve) => {
      release = () => resolve({ kind: 'service' });
    });
    const lookUp = { isAsked: false, release: () => release() };
    this.authenticate = () => {
      lookUp.isAsked = true;
      return held;
    };
    return lookUp;
  }

  /** Returns a function that returns the server's side of the next connection. */
  nextConnection(): () => Socket | undefined {
    let connection: Socket | undefined;
    this.app.server.once('connection', (socket) => {
      connection = socket;
    });
    return () => connection;
  }

  /** Returns a request to the route, valid by default; a header that is undefined is left out. */
  post(
    body: string | Buffer = ExpressFixture.GOOD,
    headers: Readonly<Record<string, string | undefined>> = {},
    path = ExpressFixture.PATH,
  ): Buffer {
    return postBytes(path, { ...HEADERS, ...headers }, body);
  }

  /** As `sameAnswer`; also returns who served the request on the application's own port. */
  async compare(bytes: Buffer): Promise<WireAnswer & { by: 'lane' | 'fastify' }> {
    const before = this.seenByFastify;
    const answer = await sameAnswer(this.ways, bytes);
    return { ...answer, by: this.seenByFastify === before + 1 ? 'lane' : 'fastify' };
  }

  async stop(): Promise<void> {
    await this.ways.close();
    await this.app.close();
  }
}
