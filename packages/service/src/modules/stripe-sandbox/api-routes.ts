import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { Type } from 'typebox';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import type { App } from '../../platform/http/index.js';
import { SANDBOX_PREFIX } from './http-client.js';
import type { SandboxSession } from './session.js';
import { type Form, readForm } from './session-request.js';
import type { SandboxSessions } from './sessions.js';
import { StripeShapedError } from './stripe-error.js';
import { sessionObject } from './stripe-objects.js';

const SESSIONS_URL = `${SANDBOX_PREFIX}/v1/checkout/sessions`;
const FORM_BYTES_MAX = 65_536;
const IDEMPOTENCY_KEY_CHARS_MAX = 255;

export interface SandboxApiDeps {
  readonly sessions: SandboxSessions;
  readonly clock: Clock;
  /** The only key that these routes accept. */
  readonly apiKey: string;
  /** Returns the URL of a session's page. */
  readonly pageUrl: (sessionId: string) => string;
}

/**
 * Registers the part of Stripe's API that a checkout needs, for Stripe's own library: forms in, JSON out, errors in
 * Stripe's form.
 */
export function registerSandboxApiRoutes(app: App, deps: SandboxApiDeps): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer', bodyLimit: FORM_BYTES_MAX },
      async (_request: unknown, bytes: Buffer) => readForm(bytes),
    );
    scope.addHook('onRequest', async ({ headers }) => checkKey(headers.authorization, deps.apiKey));
    scope.setErrorHandler((error, _request, reply) => {
      if (!(error instanceof StripeShapedError)) throw error;
      return reply.code(error.status).send(error.toBody());
    });
    registerSessions(scope as App, deps);
  });
}

function registerSessions(app: App, { sessions, clock, pageUrl }: SandboxApiDeps): void {
  const config = { access: { kind: 'public' } } as const;
  const answer = (session: SandboxSession, atS: number) => sessionObject(session, pageUrl(session.id), atS);
  app.route({
    method: 'POST',
    url: SESSIONS_URL,
    config,
    bodyLimit: FORM_BYTES_MAX,
    schema: { hide: true, body: Type.Unsafe<Form>({}) },
    handler: async ({ body, headers }) => {
      const key = headers['idempotency-key']?.toString() ?? randomUUID();
      if (key.length > IDEMPOTENCY_KEY_CHARS_MAX) {
        throw new StripeShapedError(
          400,
          'idempotency_error',
          'Idempotency keys have at most 255 characters.',
        );
      }
      const session = await sessions.create(body ?? new Map(), key);
      // A repeated request gets the first response, even if the session has changed.
      return answer({ ...session, status: 'open' }, session.createdAt);
    },
  });
  app.route({
    method: 'GET',
    url: `${SESSIONS_URL}/:session_id`,
    config,
    schema: { hide: true, params: Type.Object({ session_id: Type.String() }) },
    handler: async ({ params }) => {
      const session = await sessions.find(params.session_id);
      if (session !== undefined) return answer(session, unixSeconds(clock));
      throw new StripeShapedError(404, 'invalid_request_error', 'No such checkout.session', {
        code: 'resource_missing',
        param: 'session',
      });
    },
  });
}

/** Compares digests of equal length in constant time, so that the time reveals nothing about the key. */
function checkKey(authorization: string | undefined, apiKey: string): void {
  if (timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${apiKey}`))) return;
  throw new StripeShapedError(401, 'invalid_request_error', 'Invalid API Key provided.');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
