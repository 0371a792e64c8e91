import { randomBytes } from 'node:crypto';
import { closed, Me, Nullable } from '@tollgate/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { DomainError } from '../../kernel/errors.js';
import { type App, addressOfKey, meOf, routeCookie, secured } from '../../platform/http/index.js';
import { type ConsoleBuild, readConsoleBuild } from './assets.js';
import { csrfTokenOf, SESSION_COOKIE, SESSION_S, type Sessions, sessionToken } from './sessions.js';

export interface ConsoleDeps {
  readonly sessions: Sessions;
  /** The folder of the built console. */
  readonly folder: string;
}

const PUBLIC = { access: { kind: 'public' } } as const;
/** URLs of the console; the same page serves them all. */
const PAGE_URLS = ['/', '/sign-in', '/p/*'];
const NONCE_BYTES = 16;
const ASSET_MAX_AGE_S = 31_536_000;

const SignInBody = Type.Object({ api_key: Type.String({ minLength: 1, maxLength: 255 }) }, closed);
/** Both are null without a session: the request is not an error. */
const Session = Type.Object({ csrf_token: Nullable(Type.String()), me: Nullable(Me) }, closed);

/** Registers the console's page with its files, and the sessions of its users. */
export function registerConsoleRoutes(app: App, deps: ConsoleDeps): void {
  registerSessionRoutes(app, deps);
  registerPages(app, readConsoleBuild(deps.folder));
}

function registerSessionRoutes(app: App, { sessions }: ConsoleDeps): void {
  const url = '/api/session';
  app.route({
    method: 'POST',
    url,
    config: PUBLIC,
    schema: { hide: true, body: SignInBody, response: { 201: Type.Object({ csrf_token: Type.String() }) } },
    handler: async (request, reply) => {
      const { api_key: apiKey } = request.body;
      const opened = await sessions.open(apiKey);
      if (opened === undefined) {
        if (await app.cellForwarding?.forwardPublic(request, reply, addressOfKey(apiKey))) return reply;
        throw new DomainError('unauthenticated');
      }
      const session = `${SESSION_COOKIE}=${opened.token}`;
      setCookies(
        request,
        reply,
        app.cellForwarding === undefined ? [session] : [session, routeCookie(apiKey)],
        SESSION_S,
      );
      return reply.code(201).send({ csrf_token: opened.csrfToken });
    },
  });
  app.route({
    method: 'GET',
    url,
    config: PUBLIC,
    schema: { hide: true, response: { 200: Session } },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const token = sessionToken(request.headers);
      if (token === undefined) return { csrf_token: null, me: null };
      const principal = await sessions.authenticate(request.raw);
      if (principal !== undefined) return { csrf_token: csrfTokenOf(token), me: meOf(principal) };
      if (await app.cellForwarding?.forwardPublic(request, reply)) return reply;
      return { csrf_token: null, me: null };
    },
  });
  app.route({
    method: 'DELETE',
    url,
    config: { access: { kind: 'any-key' } },
    schema: { hide: true },
    handler: async (request, reply) => {
      await sessions.close(request.headers);
      setCookies(request, reply, [`${SESSION_COOKIE}=`], 0);
      return reply.code(204).send();
    },
  });
}

/**
 * The cookies are sent with the console's own requests only; scripts cannot read them, and no other site can make a
 * browser send them.
 */
function setCookies(
  request: FastifyRequest,
  reply: FastifyReply,
  cookies: readonly string[],
  maxAgeS: number,
): void {
  // This header comes from a proxy that ends TLS. A client that forges it only makes its own cookies stricter.
  const isSecure = request.headers['x-forwarded-proto'] === 'https';
  const attributes = ['Path=/api', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAgeS}`];
  for (const cookie of cookies) {
    reply.header('set-cookie', [cookie, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; '));
  }
  reply.header('cache-control', 'no-store');
}

/** Without a build every page redirects to the documentation of the API. */
function registerPages(app: App, build: ConsoleBuild | undefined): void {
  for (const url of PAGE_URLS) {
    app.get(url, { config: PUBLIC, schema: { hide: true } }, async (_request, reply) => {
      if (build === undefined) return reply.redirect('/docs');
      const nonce = randomBytes(NONCE_BYTES).toString('base64');
      return secured(reply)
        .header('content-security-policy', contentSecurityPolicy(nonce))
        .header('cache-control', 'no-store')
        .type('text/html; charset=utf-8')
        .send(pageWithNonce(build.page, nonce));
    });
  }
  app.get<{ Params: { '*': string } }>(
    '/assets/*',
    { config: PUBLIC, schema: { hide: true } },
    async (request, reply) => {
      const asset = build?.assets.get(`assets/${request.params['*']}`);
      if (asset === undefined) throw new DomainError('not_found');
      const { bytes, encoding } = await asset.encoded(request.headers['accept-encoding']);
      if (encoding !== undefined) reply.header('content-encoding', encoding);
      // File names change with their content.
      return secured(reply)
        .header('vary', 'accept-encoding')
        .header('cache-control', `public, max-age=${ASSET_MAX_AGE_S}, immutable`)
        .type(asset.type)
        .send(bytes);
    },
  );
}

/** Where the build leaves room for the nonce of one answer. */
const NONCE_PLACE = '__CSP_NONCE__';

/** Nothing but the console's own files runs, and nothing is loaded from or sent to another place. */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The editor and the dialogs write small style sheets into the document; each names the nonce.
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function pageWithNonce(page: string, nonce: string): string {
  return page.replaceAll(NONCE_PLACE, nonce);
}
